/** The statement that adds frames to the log of an instance, and everything that their commit changes. */
import type { AgentAddress } from '@goondan/types';
import type { FrameCommit, LogFrame } from '@goondan/runtime/history';
import { defaultLimits } from '@goondan/runtime/internal';
import type { Value } from '../driver/database.ts';
import { keyOf, SAME_INSTANCE, type StoreContext } from './store-context.ts';
import { addSpending, spendingIn, spendingText } from './spending-rows.ts';
import { notifyExpression } from './wake-channel.ts';

/** The number of handled events whose ids are kept, to recognize a second delivery. Files keep as many. */
export const REMEMBERED_EVENTS = defaultLimits.rememberedEvents;

export interface AppendOutcome extends Readonly<Record<string, unknown>> {
  readonly is_done: boolean;
  /** What the statement found before it: the owner and the last number. Only of use when it is not done. */
  readonly is_owner: boolean;
  readonly last_seq: number | null;
  /** True if input from before the event of these frames is not handled. */
  readonly is_early: boolean;
  /** True if the same frames are there already, line by line. */
  readonly are_there: boolean | null;
}

interface AppendParts {
  readonly commit: FrameCommit | undefined;
  /** True if a turn begins, whether or not the same statement commits it. */
  readonly begins: boolean;
  /** Where the node of a caller is told of its answer; absent when the database has no NOTIFY. */
  readonly channel: string | undefined;
}

/** $1–$3 instance, $4 owner, $5 epoch, $6 number before, $7 last number, $8 numbers, $9 last numbers, $10 lines. */
export function appendStatement({ commit, begins, channel }: AppendParts): string {
  const early = isEarly(commit ? '$17::bigint' : begins ? FIRST_BEGUN : undefined);
  return `
with own as (
  update gdn_instance set last_seq = $7::bigint, created_at = coalesce(created_at, clock_timestamp())${commit ? COMMITTED : ''}
  where ${SAME_INSTANCE} and owner = $4 and epoch = $5 and last_seq = $6 and not ${early}
  returning 1
), put as (
  insert into gdn_frame (swarm, agent, key, seq, last, line)
  select $1, $2, $3, frame.seq, frame.last, frame.line
  from own, unnest($8::text::bigint[], $9::text::bigint[], string_to_array($10, E'\\n')) as frame (seq, last, line)
)${commit ? ENDED : ''}${commit?.answer ? ANSWERED : ''}${commit?.spent ? spending(commit) : ''}${begins && !commit ? BEGUN : ''}
select exists (select from own) as is_done,
  coalesce(seen.owner = $4 and seen.epoch = $5, false) as is_owner,
  seen.last_seq,
  ${early} as is_early,
  case when not exists (select from own) then (
    select count(*) = cardinality($8::text::bigint[])
    from unnest($8::text::bigint[], string_to_array($10, E'\\n')) as frame (seq, line)
    join gdn_frame as kept on kept.swarm = $1 and kept.agent = $2 and kept.key = $3
      and kept.seq = frame.seq and kept.line = frame.line
  ) end as are_there${commit?.answer ? told(channel) : ''}
from (select 1) as one left join gdn_instance as seen on seen.swarm = $1 and seen.agent = $2 and seen.key = $3`;
}

/** Events are handled in the order of their numbers, whatever a node has queued. */
function isEarly(number: string | undefined): string {
  if (number === undefined) return 'false';
  return `exists (select from gdn_inbox where ${SAME_INSTANCE} and pending and seq < ${number})`;
}

const FIRST_BEGUN = '(select min(number) from unnest($11::text::bigint[]) as number)';

/** The events that the commit ends: all up to a number, and those that the turn has taken. */
const IS_ENDED = `(input.seq <= $15 or input.seq = any ($16::text::bigint[]))`;

/** $11 version, $12 messages, $13 dead letters, $14 time, $15 handled, $16 numbers of taken events, $17 the first event that begins, or null. */
const COMMITTED = `,
    version = $11, messages = $12, letters = $13, updated_at = to_timestamp($14::float8 / 1000),
    handled = greatest(handled, $15::bigint),
    pending_bytes = case when last_input <= $15 then 0 else greatest(0, pending_bytes - (
      select coalesce(sum(octet_length(input.event)), 0) from gdn_inbox as input
      where input.swarm = $1 and input.agent = $2 and input.key = $3 and input.pending and ${IS_ENDED})) end`;

/**
 * Ends the input, and forgets the oldest handled ids. If a turn is over, it also removes the answers to its requests, and
 * cancels the requests that have none: a turn that was taken over may not repeat all of them. The owners of the callees find
 * the marks with their scan. A commit of states between turns does neither, because the next turn may be a resumed one.
 */
const ENDED = `, ended as (
  update gdn_inbox as input set pending = false, event = null, cancelled = null from own
  where input.swarm = $1 and input.agent = $2 and input.key = $3 and input.pending
    and ${IS_ENDED} and input.seq > $15 - ${REMEMBERED_EVENTS}
), forgotten as (
  delete from gdn_inbox as input using own, gdn_instance as old
  where old.swarm = $1 and old.agent = $2 and old.key = $3 and input.swarm = $1 and input.agent = $2 and input.key = $3
    and input.seq <= $15 - ${REMEMBERED_EVENTS} and input.seq > old.handled - ${REMEMBERED_EVENTS}
), over as (
  select from own, gdn_instance as old where old.swarm = $1 and old.agent = $2 and old.key = $3 and old.handled < $15
), taken as (
  delete from gdn_answer as answer using over
  where answer.swarm = $1 and answer.caller_agent = $2 and answer.caller_key = $3
), given_up as (
  update gdn_inbox as asked set cancelled = 'the turn that asked is over' from over
  where asked.swarm = $1 and asked.caller_agent = $2 and asked.caller_key = $3 and asked.pending
    and asked.cancelled is null
)`;

/** $18 event, $19 and $20 caller, $21 reply. */
const ANSWERED = `, answered as (
  insert into gdn_answer (swarm, agent, key, event_id, seq, caller_agent, caller_key, reply)
  select $1, $2, $3, $18, $7, $19, $20, $21 from own
  on conflict (swarm, agent, key, event_id) do update set seq = excluded.seq, caller_agent = excluded.caller_agent,
    caller_key = excluded.caller_key, reply = excluded.reply
)`;

/** The model calls of the turn are the last value. */
const spending = ({ answer }: FrameCommit) => `, paid as (
  ${addSpending('$3', `own, ${spendingIn(answer ? '$22' : '$18')}`)}
)`;

const told = (channel: string | undefined) => `, (
    select count(${notifyExpression(channel, 'answer', { node: 'asked.owner', agent: 'asked.agent', key: 'asked.key' })})
    from gdn_instance as asked, own
    where asked.swarm = $1 and asked.agent = $19 and asked.key = $20 and asked.owner <> $4
  ) as told`;

/** $11 the numbers of the events. */
const BEGUN = `, begun as (
  update gdn_inbox as input set began = true from own
  where input.swarm = $1 and input.agent = $2 and input.key = $3 and input.pending
    and input.seq = any ($11::text::bigint[])
)`;

export function appendValues(
  context: StoreContext,
  instance: AgentAddress,
  epoch: number,
  frames: readonly LogFrame[],
): readonly Value[] {
  const [first, last] = [frames[0], frames.at(-1)];
  const commit = last?.commit;
  const begins = frames.flatMap((frame) => (frame.begins === undefined ? [] : [frame.begins]));
  return [
    ...keyOf(context, instance),
    context.node,
    epoch,
    (first?.seq ?? 1) - 1,
    last?.last ?? 0,
    listOf(frames.map(({ seq }) => seq)),
    listOf(frames.map(({ last: end }) => end)),
    frames.map(({ line }) => line).join('\n'),
    ...(commit ? commitValues(commit, begins) : begins.length > 0 ? [listOf(begins)] : []),
  ];
}

function commitValues(commit: FrameCommit, begins: readonly number[]): readonly Value[] {
  const { version, messages, deadLetters, updatedAt, handled, taken = [], answer, spent } = commit;
  const first = begins.length === 0 ? null : Math.min(...begins);
  const values = [version, messages, deadLetters, updatedAt, handled, listOf(taken), first];
  const paid = spent ? [spendingText(spent)] : [];
  if (!answer) return [...values, ...paid];
  const { eventId, caller, reply } = answer;
  return [...values, eventId, caller?.agentName ?? null, caller?.instanceKey ?? null, reply, ...paid];
}

/** The text of an array of numbers. */
function listOf(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`;
}
