/** The statements that delete and that fork an instance. */
import type { AgentAddress } from '@goondan/types';
import type { LogFrame } from '@goondan/runtime/history';
import type { Value } from '../driver/database.ts';
import { addSpending, IS_RECENT, removeOldSpending, SPENDING, spendingIn, summed } from './spending-rows.ts';
import { keyOf, SAME_INSTANCE, type StoreContext } from './store-context.ts';

/** The tables with rows of an instance, besides its own row. */
const INSTANCE_TABLES = [
  'gdn_inbox',
  'gdn_frame',
  'gdn_base',
  'gdn_archive',
  'gdn_traced_turn',
  'gdn_trace_chunk',
  'gdn_runtime_event',
];

export interface DeleteOutcome extends Readonly<Record<string, unknown>> {
  readonly is_done: boolean;
  /** What the statement found before it. */
  readonly is_there: boolean;
  readonly is_owner: boolean;
  readonly waiting: number;
  /** The files that the conversation used. */
  readonly files: readonly string[];
}

/**
 * $1–$3 instance, $4 owner, $5 epoch, $6 also with pending input, $7 the pending requests of other instances, $8 the answers
 * to them, $9 the model calls of a turn that is not committed. Input that comes in while the statement waits for the row
 * changes `last_input`, so that nothing is deleted that the statement has not seen. A use of files that nothing names yet
 * stays: it may belong to input that another node is accepting. A request that is not in $7 came in after it was made.
 * Answers that a caller has not taken stay: the commit of the caller removes them. The end of each question is told to all
 * nodes, as a removal is (`questions.ts`).
 */
export const DELETE = `
with seen as (
  select owner, epoch, last_input from gdn_instance where ${SAME_INSTANCE}
), waiting as (
  select count(*) as count, count(*) filter (where caller_agent is not null and event_id <> all ($7::text[])) as unanswered
  from gdn_inbox where ${SAME_INSTANCE} and pending
), gone as (
  delete from gdn_instance
  where ${SAME_INSTANCE} and owner = $4 and epoch = $5 and last_input = (select last_input from seen)
    and ($6::boolean or (select count from waiting) = 0) and (select unanswered from waiting) = 0
  returning 1
), uses_gone as (
  delete from gdn_blob_use as old using gone where old.swarm = $1 and old.agent = $2 and old.key = $3 and old.named
  returning old.digest
)${INSTANCE_TABLES.map(
  (table) => `, ${table}_gone as (
  delete from ${table} as old using gone where old.swarm = $1 and old.agent = $2 and old.key = $3
)`,
).join('')}, spending_gone as (
  delete from gdn_spending as old using gone where old.swarm = $1 and old.agent = $2 and old.key = $3
  returning ${SPENDING}
), spending_left as (
  select * from spending_gone where ${IS_RECENT}
  union all select ${SPENDING} from gone, ${spendingIn('$9')} where ${IS_RECENT}
), spending_kept as (
  ${addSpending("''", summed('spending_left'))}
), spending_forgotten as (
  ${removeOldSpending("''", 'gone')}
), answers_gone as (
  delete from gdn_answer as old using gone
  where old.swarm = $1 and old.agent = $2 and old.key = $3 and old.caller_agent is null
), answered as (
  insert into gdn_answer (swarm, agent, key, event_id, seq, caller_agent, caller_key, reply)
  select $1, $2, $3, given.event_id, request.seq, request.caller_agent, request.caller_key, given.reply
  from gone, unnest($7::text[], $8::text[]) as given (event_id, reply)
    join gdn_inbox as request on request.swarm = $1 and request.agent = $2 and request.key = $3
      and request.event_id = given.event_id and request.pending and request.caller_agent is not null
      and not (request.caller_agent = $2 and request.caller_key = $3)
  on conflict (swarm, agent, key, event_id) do nothing
), asked as (
  delete from gdn_answer as old using gone where old.swarm = $1 and old.caller_agent = $2 and old.caller_key = $3
    and not (old.agent = $2 and old.key = $3)
), questions_gone as (
  delete from gdn_approval as old using gone where old.swarm = $1 and old.agent = $2 and old.key = $3 returning old.id
), changed as (
  insert into gdn_swarm as row (swarm, changed, approval_changes)
  select $1, nextval(pg_get_serial_sequence('gdn_instance', 'place')), (select count(*) from questions_gone) from gone
  on conflict (swarm) do update
    set changed = excluded.changed, approval_changes = row.approval_changes + excluded.approval_changes
  returning approval_changes as last
), questions_told as (
  insert into gdn_approval_change (swarm, number, id, record)
  select $1, changed.last + 1 - row_number() over (), ended.id, null from changed, questions_gone as ended
)
select exists (select from gone) as is_done, exists (select from seen) as is_there,
  coalesce((select owner = $4 and epoch = $5 from seen), false) as is_owner, (select count from waiting) as waiting,
  array(select digest from uses_gone) as files`;

export interface ForkOutcome extends Readonly<Record<string, unknown>> {
  readonly is_done: boolean;
  /** True if a run of this statement whose answer was lost has written the same frames. */
  readonly are_there: boolean;
}

/**
 * $1–$3 the new instance, $4 node, $5 last number, $6 time, $7 version, $8 messages, $9 numbers, $10 last numbers, $11
 * lines. A row that a node of this swarm only claimed is used.
 */
export const FORK = `
with made as (
  insert into gdn_instance as row (swarm, agent, key, last_seq, created_at, updated_at, version, messages)
  values ($1, $2, $3, $5, to_timestamp($6::float8 / 1000), to_timestamp($6::float8 / 1000), $7, $8)
  on conflict (swarm, agent, key) do update set last_seq = excluded.last_seq, created_at = excluded.created_at,
    updated_at = excluded.updated_at, version = excluded.version, messages = excluded.messages
    where row.last_seq = 0 and row.last_input = 0 and (row.owner is null or row.owner = $4)
  returning 1
), put as (
  insert into gdn_frame (swarm, agent, key, seq, last, line)
  select $1, $2, $3, frame.seq, frame.last, frame.line
  from made, unnest($9::text::bigint[], $10::text::bigint[], string_to_array($11, E'\\n')) as frame (seq, last, line)
)
select exists (select from made) as is_done, (
  select count(*) = cardinality($9::text::bigint[])
  from unnest($9::text::bigint[], string_to_array($11, E'\\n')) as frame (seq, line)
  join gdn_frame as kept on kept.swarm = $1 and kept.agent = $2 and kept.key = $3
    and kept.seq = frame.seq and kept.line = frame.line
) as are_there`;

export function forkValues(context: StoreContext, to: AgentAddress, frames: readonly LogFrame[]): readonly Value[] {
  const last = frames.at(-1);
  const { updatedAt = 0, version = 0, messages = 0 } = last?.commit ?? {};
  return [
    ...keyOf(context, to),
    context.node,
    last?.last ?? 0,
    updatedAt,
    version,
    messages,
    `{${frames.map(({ seq }) => seq).join(',')}}`,
    `{${frames.map((frame) => frame.last).join(',')}}`,
    frames.map(({ line }) => line).join('\n'),
  ];
}
