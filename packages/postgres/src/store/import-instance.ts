/**
 * Writes one instance that was read from files, in one statement. Its archive may be too long for one; then the first rows
 * are written under another name, and the last statement gives them theirs.
 */
import { callerOf, type ExportedInstance, type ExportedLog } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { Database, Row } from '../driver/database.ts';
import { encodeEvent } from './event-text.ts';
import { REMEMBERED_EVENTS } from './append-statement.ts';
import { anotherConversation, refuseDifference } from './compare-instance.ts';
import { digestOf, type ImportedRows, type InboxRow, type LinesRow } from './imported-rows.ts';
import { isKept, keptText } from './kept-text.ts';
import { addSpending, spendingIn, spendingText } from './spending-rows.ts';
import { SAME_INSTANCE } from './store-context.ts';

/** The size of an archived row. The owner of an instance makes rows of about this size, too. */
const ROW_BYTES = 1024 * 1024;
/** The bytes of archived rows in one statement. */
const STATEMENT_BYTES = 4 * 1024 * 1024;

/** The name under which rows wait. No swarm has a name with this character. */
function waitingName(swarm: string): string {
  return `${swarm}\u0001import`;
}

/** Removes rows that an interrupted import left. */
export async function beginImport(database: Database, swarm: string): Promise<void> {
  await database.query('delete from gdn_archive where swarm = $1', [waitingName(swarm)]);
}

/**
 * Writes an instance. Returns false if an equal one is there, or one that has grown since it was imported.
 *
 * **Errors** — `E_INSTANCE_EXISTS` when another one is there, or the files have grown; those of the files and of the database.
 */
export async function importInstance(
  database: Database,
  swarm: string,
  instance: AgentAddress,
  exported: ExportedInstance<ExportedLog>,
): Promise<boolean> {
  const key = [kept(instance.agentName), kept(instance.instanceKey)] as const;
  const known = await readDigest(database, swarm, instance);
  const digests: string[] = [];
  let rows: LinesRow[] = [];
  let bytes = 0;
  let isWaiting = false;
  for await (const row of archivedRows(exported.log)) {
    digests.push(digestOf(row.lines));
    if (known !== undefined) continue;
    rows.push(row);
    bytes += row.lines.length;
    if (bytes < STATEMENT_BYTES) continue;
    await database.query(KEEP_WAITING, [waitingName(swarm), ...key, JSON.stringify(rows)]);
    [rows, bytes, isWaiting] = [[], 0, true];
  }
  const imported = rowsOf(exported);
  const digest = digestOfInstance(imported, digests);
  if (known !== undefined) {
    if (known !== digest) await refuseDifference(database, swarm, instance, exported);
    return false;
  }
  const [outcome] = await database.query<{ readonly is_done: boolean }>(IMPORT, [
    swarm,
    ...key,
    JSON.stringify([imported.instance]),
    JSON.stringify(rows),
    JSON.stringify(imported.frames),
    JSON.stringify(imported.base),
    JSON.stringify(imported.inbox),
    JSON.stringify(imported.answers),
    isWaiting ? waitingName(swarm) : '',
    spendingText(exported.log?.spent ?? []),
  ]);
  // A run of this statement whose answer was lost may have written the instance.
  if (outcome?.is_done !== true && digest !== (await readDigest(database, swarm, instance)))
    throw anotherConversation(instance);
  return true;
}

/** Yields rows that end with the commit of a turn, because the oldest rows are removed one by one. */
async function* archivedRows(log: ExportedLog | undefined): AsyncGenerator<LinesRow> {
  let gathered: { readonly seq: number; last: number; lines: string[]; bytes: number } | undefined;
  for await (const { seq, last, line, frame } of log?.archived() ?? []) {
    gathered ??= { seq, last, lines: [], bytes: 0 };
    gathered.lines.push(line);
    gathered.last = last;
    gathered.bytes += line.length;
    const isEnd = frame.turn !== undefined && frame.commit !== undefined;
    if (gathered.bytes < ROW_BYTES || !isEnd) continue;
    yield { seq: gathered.seq, last, lines: gathered.lines.join('\n') };
    gathered = undefined;
  }
  if (gathered) yield { seq: gathered.seq, last: gathered.last, lines: gathered.lines.join('\n') };
}

function rowsOf({ log, pending }: ExportedInstance<ExportedLog>): ImportedRows {
  const inbox = inboxRows(log, pending);
  return {
    instance: {
      last_input: Math.max(log?.handled ?? 0, ...(log?.taken ?? []), ...inbox.map(({ seq }) => seq)),
      handled: log?.handled ?? 0,
      pending_bytes: inbox.reduce((sum, { event }) => sum + (event === null ? 0 : Buffer.byteLength(event)), 0),
      last_seq: log?.last ?? 0,
      created_at: log?.createdAt ?? null,
      updated_at: log && log.version > 0 ? new Date(log.updatedAt).toISOString() : null,
      version: log?.version ?? 0,
      messages: log?.messages ?? 0,
      letters: log?.deadLetters ?? 0,
      checkpoint: log?.checkpoint.text ?? null,
      checkpoint_seq: log?.checkpoint.seq ?? 0,
      history_start: log?.historyStart ?? null,
    },
    frames: log?.frames.map(({ seq, last, line }) => ({ seq, last, lines: line })) ?? [],
    base: log === undefined || log.base === '' ? [] : [{ part: log.checkpoint.seq, lines: log.base }],
    inbox,
    answers:
      log?.answers.flatMap(({ turnId, reply }, index) =>
        turnId.startsWith(TURN)
          ? [{ event_id: turnId.slice(TURN.length), seq: index, reply: JSON.stringify(reply) }]
          : [],
      ) ?? [],
  };
}

const TURN = 'turn-';

/** Handled ids have no numbers on files, so they get those before the last handled one. */
function inboxRows(
  log: ExportedLog | undefined,
  pending: ExportedInstance<ExportedLog>['pending'],
): readonly InboxRow[] {
  const ids = log?.handledIds.slice(-REMEMBERED_EVENTS) ?? [];
  const first = (log?.handled ?? 0) - ids.length + 1;
  // An id that cannot be kept was never accepted by this database, so nobody delivers it a second time.
  const known = ids.filter(isKept);
  const handled = known.map((event_id, index) => ({ ...NO_EVENT, seq: first + index, event_id }));
  const waiting = pending.map(({ seq, event, cancelled }) => {
    const caller = callerOf(event);
    return {
      seq,
      event_id: kept(event.id),
      event: encodeEvent(event),
      cancelled: cancelled === undefined ? null : keptText(cancelled),
      began: log?.begun === seq,
      pending: true,
      caller_agent: caller?.agentName ?? null,
      caller_key: caller?.instanceKey ?? null,
    };
  });
  return [...handled, ...waiting];
}

function kept(text: string): string {
  if (isKept(text)) return text;
  throw new GoondanError('E_STORE_INSTANCE', `PostgreSQL cannot keep the text ${JSON.stringify(text)}`);
}

const NO_EVENT = {
  event: null,
  cancelled: null,
  began: false,
  pending: false,
  caller_agent: null,
  caller_key: null,
} as const;

/** Returns the digest of the instance in the database; `undefined` if it has none. */
async function readDigest(
  database: Database,
  swarm: string,
  { agentName, instanceKey }: AgentAddress,
): Promise<string | undefined> {
  const [row] = await database.query<DigestRow>(READ_DIGEST, [swarm, agentName, instanceKey]);
  return row && JSON.stringify(Object.values(row));
}

type DigestRow = Row & Readonly<Record<string, string | number | null>>;

/** Makes the same text as `readDigest`: the columns of READ_DIGEST in their order. */
function digestOfInstance(
  { instance, frames, base, inbox, answers }: ImportedRows,
  archived: readonly string[],
): string {
  const { last_input, handled, last_seq, version, messages, letters, checkpoint, history_start } = instance;
  return JSON.stringify([
    ...[last_input, handled, last_seq, version, messages, letters, checkpoint, history_start],
    archived.join(' '),
    frames.map(({ lines }) => digestOf(lines)).join(' '),
    base.map(({ lines }) => digestOf(lines)).join(' '),
    inbox
      .toSorted((one, other) => one.seq - other.seq)
      .map((row) => digestOf([row.seq, row.event_id, row.event ?? '', row.cancelled ?? '', row.pending].join('\n')))
      .join(' '),
    answers.map((row) => digestOf(`${row.event_id}\n${row.reply}`)).join(' '),
  ]);
}

const digests = (text: string, table: string, order: string) =>
  `(select coalesce(string_agg(md5(${text}), ' ' order by ${order}), '') from ${table} where ${SAME_INSTANCE})`;

const READ_DIGEST = `
select last_input, handled, last_seq, version, messages, letters, checkpoint, history_start,
  ${digests('lines', 'gdn_archive', 'seq')} as archived,
  ${digests('line', 'gdn_frame', 'seq')} as frames,
  ${digests('lines', 'gdn_base', 'part')} as base,
  ${digests(`concat_ws(E'\\n', seq, event_id, coalesce(event, ''), coalesce(cancelled, ''), pending::text)`, 'gdn_inbox', 'seq')} as inbox,
  ${digests(`concat_ws(E'\\n', event_id, reply)`, 'gdn_answer', 'seq')} as answers
from gdn_instance where ${SAME_INSTANCE} and (last_seq > 0 or last_input > 0)`;

const KEEP_WAITING = `
insert into gdn_archive (swarm, agent, key, seq, last, lines)
select $1, $2, $3, seq, last, lines from json_to_recordset($4::text::json) as row (seq bigint, last bigint, lines text)
on conflict (swarm, agent, key, seq) do update set last = excluded.last, lines = excluded.lines`;

const COLUMNS = `last_input, handled, pending_bytes, last_seq, created_at, updated_at, version, messages, letters,
  checkpoint, checkpoint_seq, history_start`;

/** A row that a node has only claimed is filled. If that node begins a conversation, its first write finds another number. */
const IMPORT = `
with own as (
  insert into gdn_instance (swarm, agent, key, ${COLUMNS})
  select $1, $2, $3, ${COLUMNS} from json_to_recordset($4::text::json) as row (last_input bigint, handled bigint,
    pending_bytes bigint, last_seq bigint, created_at timestamptz, updated_at timestamptz, version bigint,
    messages bigint, letters bigint, checkpoint text, checkpoint_seq bigint, history_start text)
  on conflict (swarm, agent, key) do update set (${COLUMNS}) = row (excluded.${COLUMNS.replaceAll(/,\s+/g, ', excluded.')})
    where gdn_instance.last_seq = 0 and gdn_instance.last_input = 0
  returning 1
), archived as (
  insert into gdn_archive (swarm, agent, key, seq, last, lines)
  select $1, $2, $3, seq, last, lines
  from own, json_to_recordset($5::text::json) as row (seq bigint, last bigint, lines text)
), moved as (
  update gdn_archive as row set swarm = $1 from own
  where row.swarm = $10 and row.agent = $2 and row.key = $3
), framed as (
  insert into gdn_frame (swarm, agent, key, seq, last, line)
  select $1, $2, $3, seq, last, lines
  from own, json_to_recordset($6::text::json) as row (seq bigint, last bigint, lines text)
), based as (
  insert into gdn_base (swarm, agent, key, part, lines)
  select $1, $2, $3, part, lines from own, json_to_recordset($7::text::json) as row (part bigint, lines text)
), input as (
  insert into gdn_inbox (swarm, agent, key, seq, event_id, attempt, event, cancelled, began, pending, caller_agent, caller_key)
  select $1, $2, $3, seq, event_id, 'import', event, cancelled, began, pending, caller_agent, caller_key
  from own, json_to_recordset($8::text::json) as row (seq bigint, event_id text, event text, cancelled text,
    began boolean, pending boolean, caller_agent text, caller_key text)
), answered as (
  insert into gdn_answer (swarm, agent, key, event_id, seq, reply)
  select $1, $2, $3, event_id, seq, reply
  from own, json_to_recordset($9::text::json) as row (event_id text, seq bigint, reply text)
), paid as (
  ${addSpending('$3', `own, ${spendingIn('$11')}`)}
)
select exists (select from own) as is_done`;
