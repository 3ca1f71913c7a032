/**
 * Reads conversations and their history from rows. A statement reads one moment; the history is read in pages, and the
 * frames that its owner moves to the archive meanwhile are found there. If the owner removes lines before they were read,
 * the reader says so with `E_STORE_READ`, so that no turn is skipped.
 */
import type { ArchivedTurn, HistoryReader, HistoryStart, KeptHistory, StoredLog } from '@goondan/runtime/history';
import {
  corruptLine,
  decodeStart,
  emptyStart,
  isCorrupt,
  nameInstance,
  openArchivedTurn,
  readArchivedTurns,
  readStoredLog,
  snapshotOf,
  type UncheckedListener,
} from '@goondan/runtime/internal';
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { readPending } from './read-pending.ts';

/** The rows of one page. An archived row has about 1 MB of lines; frames are moved to the archive above that. */
const ARCHIVED_ROWS = 2;
const FRAME_ROWS = 256;

export function openHistoryReader(database: Database, swarm: string): HistoryReader {
  const read: HistoryReader['read'] = async (instance) =>
    snapshotOf(instance, await readStored(database, swarm, instance));
  const history = async (instance: AgentAddress, onUnchecked?: UncheckedListener): Promise<KeptHistory> => {
    const first = await readFirst(database, swarm, instance);
    if (first === undefined) return { start: emptyStart, turns: noTurns() };
    const start = startOf(instance, first.history_start);
    const lines = readLines(database, swarm, instance, first);
    return { start, turns: checkedTurns(instance, start, lines, first.version, onUnchecked) };
  };
  return {
    read,
    async readIntact(instance) {
      try {
        return { ...(await read(instance)), lostStates: [], problems: [] };
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        return { extensionState: {}, lostStates: [], problems: [error] };
      }
    },
    history,
    pending: async (instance): Promise<readonly AgentEvent[]> =>
      (await readPending(database, swarm, instance)).map(({ event }) => event),
    async openTurn(instance) {
      const stored = await readStored(database, swarm, instance);
      return openArchivedTurn(readStoredLog(instance, stored).state.open);
    },
    async *archive(instance) {
      yield* (await history(instance)).turns;
    },
  };
}

/** Reads the log of an instance as its owner would. It is empty if the instance does not exist. */
export async function readStored(
  database: Database,
  swarm: string,
  { agentName, instanceKey }: AgentAddress,
): Promise<Omit<StoredLog, 'epoch'>> {
  const [row] = await database.query<StoredRow>(READ_STORED, [swarm, agentName, instanceKey]);
  const { checkpoint = null, base = null, frames = null } = row ?? {};
  return {
    ...(checkpoint !== null && { checkpoint }),
    base: base === null ? [] : [base],
    frames: frames === null ? [] : frames.split('\n'),
  };
}

interface StoredRow extends Readonly<Record<string, unknown>> {
  readonly checkpoint: string | null;
  readonly base: string | null;
  readonly frames: string | null;
}

const SAME = 'swarm = $1 and agent = $2 and key = $3';

const READ_STORED = `
select checkpoint,
  (select string_agg(lines, '' order by part) from gdn_base where ${SAME}) as base,
  (select string_agg(line, E'\\n' order by seq) from gdn_frame where ${SAME}) as frames
from gdn_instance where ${SAME}`;

function startOf(instance: AgentAddress, text: string | null): HistoryStart {
  const start = text === null ? emptyStart : decodeStart(Buffer.from(text));
  if (typeof start === 'string') throw corruptLine(instance, `the start of its history is damaged: ${start}`);
  return start;
}

/** Yields the turns after the start, and checks that none is missing. */
async function* checkedTurns(
  instance: AgentAddress,
  { version: before }: HistoryStart,
  lines: AsyncIterable<readonly string[]>,
  wanted: number,
  onUnchecked: UncheckedListener | undefined,
): AsyncGenerator<ArchivedTurn> {
  let last = before;
  for await (const turn of readArchivedTurns(instance, lines)) {
    // Turns that the start includes are removed later.
    if (turn.version <= last) continue;
    if (turn.version !== last + 1) throw corruptLine(instance, `commit ${last + 1} is missing`);
    yield turn;
    last = turn.version;
  }
  if (last >= wanted) return;
  const error = corruptLine(instance, `it ends after commit ${last}, and there were ${wanted}`);
  if (onUnchecked === undefined) throw error;
  onUnchecked(error);
}

async function* noTurns(): AsyncGenerator<ArchivedTurn> {
  // A conversation that does not exist has no turns.
}

interface LineRow extends Readonly<Record<string, unknown>> {
  readonly seq: number;
  readonly last: number;
  readonly lines: string;
  readonly archived: boolean;
}

interface FirstRow extends Readonly<Record<string, unknown>> {
  readonly version: number;
  readonly history_start: string | null;
  readonly page: readonly LineRow[];
}

/** Reads the start of the history and its first page, at one moment. */
async function readFirst(
  database: Database,
  swarm: string,
  { agentName, instanceKey }: AgentAddress,
): Promise<FirstRow | undefined> {
  const rows = await database.query<FirstRow & LineRow>(READ_FIRST, [swarm, agentName, instanceKey, 0]);
  const [row] = rows;
  return row && { ...row, page: rows.filter(({ lines }) => lines !== null) };
}

/** Yields all lines, a page at a time. */
async function* readLines(
  database: Database,
  swarm: string,
  { agentName, instanceKey }: AgentAddress,
  { page: first, history_start: start }: FirstRow,
): AsyncGenerator<readonly string[]> {
  let page = first;
  let last = 0;
  while (page.length > 0) {
    for (const row of page) {
      yield linesAfter(row, last);
      last = row.last;
    }
    const isFull = page.filter(({ archived }) => archived).length === ARCHIVED_ROWS || page.length >= FRAME_ROWS;
    if (!isFull) return;
    page = await database.query<LineRow>(READ_PAGE, [swarm, agentName, instanceKey, last]);
    const [next] = page;
    if (next !== undefined && next.seq <= last + 1) continue;
    // It was the end, or lines were removed.
    const [now] = await database.query<Pick<FirstRow, 'history_start'>>(READ_START, [swarm, agentName, instanceKey]);
    if (now?.history_start !== start) throw shortenedError({ agentName, instanceKey });
  }
}

function shortenedError(instance: AgentAddress): GoondanError {
  const message = `The history of ${nameInstance(instance)} was shortened while it was read.`;
  return new GoondanError('E_STORE_READ', message, { retryable: true, suggestion: 'Read it again.' });
}

/** Returns the lines of a row after a number. The lines before it were frames when they were read, and are archived now. */
function linesAfter({ seq, lines }: LineRow, last: number): readonly string[] {
  const all = lines.split('\n');
  return seq > last ? all : all.filter((line) => seqOf(line) > last);
}

/** Reads the number of a frame without decoding the frame. */
function seqOf(line: string): number {
  return Number(/^\{"crc":"[0-9a-f]{8}","seq":(\d+)/.exec(line)?.[1] ?? Number.POSITIVE_INFINITY);
}

const READ_PAGE = `
with archived as (
  select seq, last, lines from gdn_archive where ${SAME} and last > $4 order by seq limit ${ARCHIVED_ROWS}
), framed as (
  select seq, last, line from gdn_frame where ${SAME} and last > $4
    and (select count(*) from archived) < ${ARCHIVED_ROWS} order by seq limit ${FRAME_ROWS}
)
select seq, last, lines, true as archived from archived
union all select seq, last, line, false from framed
order by seq`;

const READ_START = `select history_start from gdn_instance where ${SAME}`;

const READ_FIRST = `
with page as (${READ_PAGE})
select own.version, own.history_start, page.seq, page.last, page.lines, page.archived
from gdn_instance own left join page on true
where own.swarm = $1 and own.agent = $2 and own.key = $3 order by page.seq`;
