/**
 * The statement that replaces a checkpoint, moves the frames that it includes to the archive, and removes the counts of
 * model calls that are too old.
 */
import { removeOldSpending } from './spending-rows.ts';
import { SAME_INSTANCE } from './store-context.ts';

export interface CheckpointOutcome extends Readonly<Record<string, unknown>> {
  readonly is_done: boolean;
  /** What the statement found before it. Only of use when it is not done. */
  readonly is_owner: boolean;
  readonly checkpoint_seq: number | null;
  readonly last_seq: number | null;
  /** The bytes of the archived lines before it. */
  readonly archived_bytes: number;
}

/**
 * $1–$3 instance, $4 owner, $5 epoch, $6 number, $7 checkpoint, $8 lines of the base. A part of the base has the number of
 * its checkpoint, so that parts that a rewrite removes and the new one never have the same number.
 */
export function checkpointStatement(base: 'append' | 'rewrite'): string {
  return `
with own as (
  update gdn_instance set checkpoint = $7, checkpoint_seq = $6::bigint
  where ${SAME_INSTANCE} and owner = $4 and epoch = $5 and checkpoint_seq < $6 and last_seq >= $6
  returning 1
), moved as (
  delete from gdn_frame as frame using own
  where frame.swarm = $1 and frame.agent = $2 and frame.key = $3 and frame.last <= $6
  returning frame.seq, frame.last, frame.line
), archived as (
  insert into gdn_archive (swarm, agent, key, seq, last, lines)
  select $1, $2, $3, min(seq), max(last), string_agg(line, E'\\n' order by seq) from moved having count(*) > 0
)${base === 'rewrite' ? REPLACED : ''}, grown as (
  insert into gdn_base (swarm, agent, key, part, lines) select $1, $2, $3, $6, $8::text from own where $8 <> ''
), forgotten as (
  ${removeOldSpending('$3', 'own')}
)
select exists (select from own) as is_done, coalesce(seen.owner = $4 and seen.epoch = $5, false) as is_owner,
  seen.checkpoint_seq, seen.last_seq,
  (select coalesce(sum(octet_length(lines)), 0)::bigint from gdn_archive where ${SAME_INSTANCE}) as archived_bytes
from (select 1) as one left join gdn_instance as seen on seen.swarm = $1 and seen.agent = $2 and seen.key = $3`;
}

const REPLACED = `, replaced as (
  delete from gdn_base as part using own where part.swarm = $1 and part.agent = $2 and part.key = $3
)`;
