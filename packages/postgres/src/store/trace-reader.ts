/** Reads recorded turns from their rows. Lists are read in pages, newest first. */
import type { HistorySource, TraceReader } from '@goondan/runtime/history';
import {
  decodeTraceLines,
  listTurnsOf,
  readRecordingOf,
  readRequestsOf,
  readTraceOf,
  type RecordedTurn,
  summariseTurn,
  type TraceSource,
  type WantedTurns,
} from '@goondan/runtime/internal';
import type { Database, Value } from '../driver/database.ts';
import { unpackLines } from './pack-lines.ts';

interface TurnRow {
  readonly [column: string]: unknown;
  readonly agent: string;
  readonly key: string;
  readonly trace: string;
  readonly turn: string;
  readonly at: string;
}

interface ChunkRow {
  readonly [column: string]: unknown;
  readonly place: number;
  readonly lines: Uint8Array;
}

const FIRST_PAGE = 50;
const LATER_PAGES = 1000;
/** The turns whose beginnings and ends are read together. */
const TOGETHER = 50;
/** A trace of at most this many bytes is read completely for its summary. */
const SHORT_BYTES = 32 * 1024;

export function openTraceReader(database: Database, swarm: string, history: HistorySource): TraceReader {
  const source = traceRows(database, swarm);
  return {
    list: (options) => listTurnsOf(source, options),
    read: (id) => readTraceOf(source, id),
    readRecording: (id) => readRecordingOf(source, history, id),
    readRequests: (id) => readRequestsOf(source, history, id),
  };
}

function traceRows(database: Database, swarm: string): TraceSource {
  return {
    async *list(wanted = {}) {
      let size = FIRST_PAGE;
      let last: TurnRow | undefined;
      do {
        const rows: readonly TurnRow[] = await database.query<TurnRow>(...pageOf(swarm, wanted, size, last));
        last = rows.length < size ? undefined : rows.at(-1);
        size = LATER_PAGES;
        for (let start = 0; start < rows.length; start += TOGETHER) {
          yield* recordedTurns(database, swarm, rows.slice(start, start + TOGETHER));
        }
      } while (last !== undefined);
    },
  };
}

function pageOf(
  swarm: string,
  { agentName, trace, turns }: WantedTurns,
  size: number,
  last: TurnRow | undefined,
): [statement: string, values: Value[]] {
  const values: Value[] = [swarm];
  const place = (value: Value) => `$${values.push(value)}`;
  const conditions = ['swarm = $1'];
  if (agentName !== undefined) conditions.push(`agent = ${place(agentName)}`);
  if (trace !== undefined) conditions.push(`trace = ${place(trace)}`);
  if (turns !== undefined) conditions.push(`turn = any(${place(turns)}::text[])`);
  if (last !== undefined) {
    const key = [last.at, last.agent, last.key, last.trace, last.turn].map(place).join(', ');
    conditions.push(`(at, agent, key, trace, turn) < (${key})`);
  }
  const statement = `select agent, key, trace, turn, at from gdn_traced_turn where ${conditions.join(' and ')}
order by at desc, agent desc, key desc, trace desc, turn desc limit ${size}`;
  return [statement, values];
}

/** Returns the turns. The first summary reads the beginnings and ends of all of them in one statement. */
function recordedTurns(database: Database, swarm: string, rows: readonly TurnRow[]): RecordedTurn[] {
  let ends: Promise<readonly ChunkRow[]> | undefined;
  const readEnds = () =>
    database.query<ChunkRow>(READ_ENDS, [
      swarm,
      rows.map(({ agent }) => agent),
      rows.map(({ key }) => key),
      rows.map(({ trace }) => trace),
      rows.map(({ turn }) => turn),
    ]);
  return rows.map(({ agent, key, trace, turn, at }, index) => ({
    when: at,
    trace,
    turn,
    async summary() {
      ends ??= readEnds();
      return summariseTurn(await linesOf((await ends).filter(({ place }) => place === index + 1)));
    },
    async lines() {
      return linesOf(await database.query<ChunkRow>(READ_ALL, [swarm, agent, key, trace, turn]));
    },
  }));
}

async function linesOf(chunks: readonly ChunkRow[]) {
  const texts = await Promise.all(chunks.map(({ lines }) => unpackLines(lines)));
  return decodeTraceLines(texts.join(''));
}

const READ_ALL = `
select 0 as place, lines from gdn_trace_chunk
where swarm = $1 and agent = $2 and key = $3 and trace = $4 and turn = $5 order by part`;

const READ_ENDS = `
select wanted.place, chunk.lines
from unnest($2::text[], $3::text[], $4::text[], $5::text[]) with ordinality as wanted (agent, key, trace, turn, place)
join gdn_traced_turn traced on traced.swarm = $1
  and (traced.agent, traced.key, traced.trace, traced.turn) = (wanted.agent, wanted.key, wanted.trace, wanted.turn)
cross join lateral (
  (select part, lines from gdn_trace_chunk own where own.swarm = $1
    and (own.agent, own.key, own.trace, own.turn) = (wanted.agent, wanted.key, wanted.trace, wanted.turn)
    order by part limit case when traced.bytes <= ${SHORT_BYTES} then null else 1 end)
  union
  (select part, lines from gdn_trace_chunk own where own.swarm = $1
    and (own.agent, own.key, own.trace, own.turn) = (wanted.agent, wanted.key, wanted.trace, wanted.turn)
    order by part desc limit 1)
) chunk
order by wanted.place, chunk.part`;
