/** Compares an instance on files with its copy in the database, when they are not equal. */
import { type ExportedInstance, type ExportedLog, nameInstance } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { Database, Row } from '../driver/database.ts';
import { SAME_INSTANCE } from './store-context.ts';

/**
 * Returns if the database has everything of the files, and more: the copy has grown since its import.
 *
 * **Errors** — `E_INSTANCE_EXISTS` when the files have more, when both have, or when the conversations are different ones.
 */
export async function refuseDifference(
  database: Database,
  swarm: string,
  instance: AgentAddress,
  { log, pending }: ExportedInstance<ExportedLog>,
): Promise<void> {
  let [first, last] = ['', ''];
  for await (const { line, frame } of log?.archived() ?? []) {
    if (frame.commit !== undefined) first ||= line;
    last = line;
  }
  const waiting = pending.map(({ event }) => event.id);
  const key = [swarm, instance.agentName, instance.instanceKey];
  const [stored] = await database.query<StoredRow>(COMPARE, [...key, first, last, JSON.stringify(waiting)]);
  if (stored === undefined || !stored.has_first) throw anotherConversation(instance);
  const hasAll = stored.has_last && stored.known === new Set(waiting).size;
  const hasMore = stored.has_last ? stored.last_seq > (log?.last ?? 0) : !(await hasLine(log, stored.newest));
  if (hasAll && hasMore) return;
  if (hasAll) throw anotherConversation(instance);
  const name = nameInstance(instance);
  throw exists(
    hasMore
      ? `The files and the database both have new turns of ${name} since the import`
      : `The files of ${name} have newer turns than the database`,
  );
}

export function anotherConversation(instance: AgentAddress): GoondanError {
  return exists(`The database has another conversation of ${nameInstance(instance)}`);
}

function exists(message: string): GoondanError {
  const suggestion = 'Delete it there with `gdn instance delete`, or import into another swarm, then import again.';
  return new GoondanError('E_INSTANCE_EXISTS', message, { suggestion });
}

async function hasLine(log: ExportedLog | undefined, wanted: string | null): Promise<boolean> {
  if (wanted === null) return true;
  for await (const { line } of log?.archived() ?? []) if (line === wanted) return true;
  return false;
}

interface StoredRow extends Row {
  readonly last_seq: number;
  readonly has_first: boolean;
  readonly has_last: boolean;
  /** The number of waiting events of the files that the database knows. */
  readonly known: number;
  /** The newest line of the database. */
  readonly newest: string | null;
}

const has = (line: string) =>
  `(${line} = '' or exists (select from gdn_archive where ${SAME_INSTANCE} and strpos(lines, ${line}) > 0))`;

const COMPARE = `
select last_seq, ${has('$4::text')} as has_first, ${has('$5::text')} as has_last,
  (select count(distinct event_id)::int from gdn_inbox
    where ${SAME_INSTANCE} and event_id in (select json_array_elements_text($6::text::json))) as known,
  coalesce(
    (select line from gdn_frame where ${SAME_INSTANCE} order by seq desc limit 1),
    (select regexp_replace(lines, E'^.*\\n', '') from gdn_archive where ${SAME_INSTANCE} order by seq desc limit 1)
  ) as newest
from gdn_instance where ${SAME_INSTANCE}`;
