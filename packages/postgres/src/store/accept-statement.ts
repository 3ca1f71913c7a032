/** The statements that accept an event and that mark one as cancelled. */
import { SAME_INSTANCE } from './store-context.ts';
import { notifyExpression } from './wake-channel.ts';

export interface AcceptOutcome extends Readonly<Record<string, unknown>> {
  /** The number of the event, if this statement has accepted it. */
  readonly accepted: number | null;
  /** The node that owns the instance. */
  readonly owner: string | null;
  /** The number of an event with this id that was there before, and what is kept of it. */
  readonly known: number | null;
  readonly attempt: string | null;
  readonly event: string | null;
  readonly cancelled: string | null;
  readonly may_connect: boolean;
  readonly is_full: boolean;
  readonly waiting: number | null;
  readonly bytes: number | null;
}

const isFull = (row: string, bytes: string, mostEvents: string, mostBytes: string) =>
  `(coalesce(${row}.last_input - ${row}.handled, 0) >= ${mostEvents} or coalesce(${row}.pending_bytes, 0) + ${bytes} > ${mostBytes})`;
const IS_FULL = (row: string) => isFull(row, 'octet_length($6::text)', '$10', '$11');

const HAS_CONNECTION = (connection: string, node: string, epoch: string) =>
  `select 1 from gdn_connection where swarm = $1 and connection = ${connection} and owner = ${node} and epoch = ${epoch}`;

const notify = (row: string, node: string, channel: string | undefined) =>
  `(case when ${row}.owner <> ${node} then ${notifyExpression(channel, 'input', {
    node: `${row}.owner`,
    agent: '$2::text',
    key: '$3::text',
  })} end)`;

interface AcceptParts {
  readonly hasFence: boolean;
  readonly hasCaller: boolean;
  readonly channel: string | undefined;
}

/** An answer from files does not say who asked. A caller that asks again becomes its caller, and removes it with its commit. */
const ADOPTED = `, adopted as (
  update gdn_answer as answer set caller_agent = $7::text, caller_key = $8::text from known
  where answer.swarm = $1 and answer.agent = $2 and answer.key = $3 and answer.event_id = $4
    and answer.caller_agent is null
)`;

/**
 * $1–$3 instance, $4 event id, $5 attempt, $6 event, $7 and $8 caller, $9 node, $10 most events, $11 most bytes; with
 * `hasFence` $12 connection, $13 epoch. Another node that owns the instance is told.
 */
export function acceptStatement({ hasFence, hasCaller, channel }: AcceptParts): string {
  const fence = hasFence ? `${HAS_CONNECTION('$12', '$9', '$13')} for share` : 'select 1';
  return `
with may as (${fence}), known as (
  select seq, attempt, event, cancelled from gdn_inbox where ${SAME_INSTANCE} and event_id = $4
), numbered as (
  insert into gdn_instance as row (swarm, agent, key, last_input, pending_bytes)
  select $1, $2, $3, 1, octet_length($6::text) from may
  where not exists (select from known) and octet_length($6::text) <= $11 and $10 > 0
  on conflict (swarm, agent, key) do update
    set last_input = row.last_input + 1, pending_bytes = row.pending_bytes + octet_length($6::text)
    where not ${IS_FULL('row')}
  returning row.last_input, row.owner
), put as (
  insert into gdn_inbox (swarm, agent, key, seq, event_id, attempt, event, caller_agent, caller_key)
  select $1, $2, $3, last_input, $4, $5, $6, $7::text, $8::text from numbered
  on conflict (swarm, agent, key, event_id) do nothing
  returning seq
)${hasCaller ? ADOPTED : ''}
select put.seq as accepted, numbered.owner, known.seq as known, known.attempt, known.event, known.cancelled,
  exists (select from may) as may_connect,
  numbered.last_input is null and known.seq is null and (octet_length($6::text) > $11 or ${IS_FULL('seen')}) as is_full,
  seen.last_input - seen.handled as waiting, seen.pending_bytes as bytes,
  case when put.seq is not null then (select 1 from (select ${notify('numbered', '$9', channel)}) as told) end as told
from (select 1) as one left join put on true left join numbered on true left join known on true
  left join gdn_instance as seen on seen.swarm = $1 and seen.agent = $2 and seen.key = $3`;
}

export type RoomOutcome = Pick<AcceptOutcome, 'may_connect' | 'is_full' | 'waiting' | 'bytes'>;

/**
 * Finds out whether an event would be accepted. $1–$3 instance, $4 event id, $5 bytes, $6 most events, $7 most bytes; with
 * `hasFence` $8 connection, $9 node, $10 epoch.
 */
export function roomStatement(hasFence: boolean): string {
  return `
select exists (${hasFence ? HAS_CONNECTION('$8', '$9', '$10') : 'select 1'}) as may_connect,
  ($5::bigint > $7 or ${isFull('seen', '$5::bigint', '$6', '$7')})
    and not exists (select from gdn_inbox where ${SAME_INSTANCE} and event_id = $4) as is_full,
  seen.last_input - seen.handled as waiting, seen.pending_bytes as bytes
from (select 1) as one left join gdn_instance as seen on seen.swarm = $1 and seen.agent = $2 and seen.key = $3`;
}

/** $1–$3 instance, $4 event id, $5 reason, $6 node. The first reason stays. */
export function cancelStatement(channel: string | undefined): string {
  return `
with marked as (
  update gdn_inbox set cancelled = coalesce(cancelled, $5) where ${SAME_INSTANCE} and event_id = $4 and pending
  returning 1
)
select exists (select from marked) as is_marked,
  (select count(${notify('owned', '$6', channel)}) from gdn_instance as owned, marked
    where owned.swarm = $1 and owned.agent = $2 and owned.key = $3) as told`;
}
