/** Writes questions, traces and folders of connections that were read from files. Those that are there already stay. */
import type { QuestionRecord, InstanceSpending } from '@goondan/runtime/history';
import type { ExportedTrace } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { questionValues } from './questions.ts';
import { packLines } from './pack-lines.ts';
import { SPENDING, spendingIn, spendingText } from './spending-rows.ts';

/** Writes a request for an approval. Returns the problem if another one with its id is there. */
export async function importQuestion(
  database: Database,
  swarm: string,
  record: QuestionRecord,
): Promise<GoondanError | undefined> {
  const text = JSON.stringify(record);
  const [known] = await database.query<{ readonly record: string }>(APPROVAL, [
    swarm,
    ...questionValues(record),
    record.answer !== undefined,
  ]);
  if (known === undefined || known.record === text) return undefined;
  return new GoondanError('E_INSTANCE_EXISTS', `The database has another request for an approval "${record.id}"`);
}

/** Writes the folder of a connection. Returns the problem if the database has other files, or a node runs the connection. */
export async function importConnection(
  database: Database,
  swarm: string,
  connection: string,
  packed: Uint8Array,
): Promise<GoondanError | undefined> {
  const [row] = await database.query<{ readonly is_done: boolean }>(CONNECTION, [swarm, connection, packed]);
  if (row?.is_done === true) return undefined;
  const message = `The database has other files of the connection "${connection}", or a node runs it. Its folder was not copied`;
  const suggestion = 'Import into another swarm, or stop all nodes before the first import.';
  return new GoondanError('E_INSTANCE_EXISTS', message, { suggestion });
}

/** Writes a recorded turn. Returns false if the database has it. */
export async function importTrace(
  database: Database,
  swarm: string,
  { instance: { agentName, instanceKey }, trace, turn, at, text }: ExportedTrace,
): Promise<boolean> {
  const values = [swarm, agentName, instanceKey, trace, turn, at, Buffer.byteLength(text), await packLines(text)];
  return (await database.query(TRACE, values)).length > 0;
}

/** Writes the model calls of deleted conversations. Rows that an earlier run of the import wrote stay as they are. */
export async function importDeletedSpending(
  database: Database,
  swarm: string,
  spent: readonly InstanceSpending[],
): Promise<void> {
  for (const agentName of new Set(spent.map((each) => each.agentName))) {
    const rows = spendingText(spent.filter((each) => each.agentName === agentName));
    await database.query(DELETED_SPENDING, [swarm, agentName, rows]);
  }
}

const DELETED_SPENDING = `
insert into gdn_spending (swarm, agent, key, ${SPENDING})
select $1, $2, '', ${SPENDING} from ${spendingIn('$3')}
on conflict do nothing`;

const APPROVAL = `
with put as (
  insert into gdn_approval (swarm, id, record, agent, key, expires_at, is_answered)
  values ($1, $2, $3, $4, $5, $6::text::timestamptz, $7)
  on conflict (swarm, id) do nothing returning 1
)
select record from gdn_approval where swarm = $1 and id = $2 and not exists (select from put)`;

/** A run of this statement whose answer was lost has put the same files. */
const CONNECTION = `
with put as (
  insert into gdn_connection as kept (swarm, connection, folder) values ($1, $2, $3)
  on conflict (swarm, connection) do update set folder = excluded.folder
    where kept.folder is null and kept.owner is null or kept.folder = excluded.folder
  returning 1
)
select exists (select from put) as is_done`;

const TRACE = `
with put as (
  insert into gdn_traced_turn (swarm, agent, key, trace, turn, at, bytes) values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (swarm, agent, key, trace, turn) do nothing returning 1
)
insert into gdn_trace_chunk (swarm, agent, key, trace, turn, lines)
select $1, $2, $3, $4, $5, decode($8, 'base64') from put returning part`;
