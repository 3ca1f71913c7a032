/**
 * Keeps the traces of turns in rows: one for each turn, and chunks with its lines. The lines come from the agent
 * processes of this node, already masked. The bytes of one turn are bounded, for each process that works on it; so are
 * the bytes of all turns.
 */
import type { TraceSink } from '@goondan/runtime/history';
import {
  type Clock,
  defaultLimits,
  type LimitedTurn,
  pathSegment,
  textWithin,
  type TurnLine,
  whenOf,
} from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { keepNewest } from './keep-newest.ts';
import { packLines } from './pack-lines.ts';
import { RecordBatches } from './record-batches.ts';

export interface RecordSinkOptions {
  readonly clock?: Clock;
  /** Called with a problem that concerns no single line. */
  readonly report: (problem: string) => void;
}

/** A part of a turn's trace: whole lines, each with its line break. */
export interface TraceChunk {
  readonly instance: AgentAddress;
  /** The ids as path segments, and the digits of the start time: see `trace-names.ts`. */
  readonly trace: string;
  readonly turn: string;
  readonly at: string;
  readonly text: string;
}

export function openTraceSink(
  database: Database,
  swarm: string,
  {
    clock,
    report,
    limits = defaultLimits.traces,
  }: RecordSinkOptions & { readonly limits?: typeof defaultLimits.traces },
): TraceSink & { close(): Promise<void> } {
  const keep = keepNewest({
    most: limits.bytes * limits.files,
    remove: (most) => database.query(REMOVE_OLDEST, [swarm, most]),
    report: (error) => report(`old traces were not removed: ${String(error)}`),
  });
  const batches = new RecordBatches<TraceChunk>({
    ...(clock && { clock }),
    async write(chunks) {
      await writeTraceChunks(database, swarm, chunks);
      await keep(chunks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0));
    },
  });
  return {
    async open(instance) {
      let current: (LimitedTurn & { readonly turnId: string }) | undefined;
      return {
        async append(lines) {
          const chunks: TraceChunk[] = [];
          let bytes = 0;
          for (const [turnId, ofTurn] of Map.groupBy(lines, ({ turn }) => turn.turnId)) {
            if (current?.turnId !== turnId) current = { turnId, bytes: 0, isCut: false };
            const before = current.bytes;
            const chunk = chunkOf(instance, ofTurn, current, limits.turnBytes);
            bytes += current.bytes - before;
            if (chunk !== undefined) chunks.push(chunk);
          }
          if (chunks.length > 0) await batches.add(chunks, bytes);
        },
        close: async () => undefined,
      };
    },
    close: () => batches.close(),
  };
}

function chunkOf(
  instance: AgentAddress,
  lines: readonly TurnLine[],
  limited: LimitedTurn,
  turnBytes: number,
): TraceChunk | undefined {
  let text = '';
  for (const line of lines) {
    const made = textWithin(line, limited, turnBytes);
    if (made === undefined) continue;
    text += `${made}\n`;
    limited.bytes += Buffer.byteLength(made) + 1;
  }
  const turn = lines[0]?.turn;
  if (turn === undefined || text === '') return undefined;
  const { traceId, turnId, startedAt } = turn;
  return { instance, trace: pathSegment(traceId), turn: pathSegment(turnId), at: whenOf(startedAt), text };
}

/** Writes chunks, in one statement. Chunks of the same turn become one. */
export async function writeTraceChunks(
  database: Database,
  swarm: string,
  chunks: readonly TraceChunk[],
): Promise<void> {
  const turns = Map.groupBy(chunks, ({ instance: { agentName, instanceKey }, trace, turn }) =>
    JSON.stringify([agentName, instanceKey, trace, turn]),
  );
  const rows = await Promise.all(
    Array.from(turns.values(), async (ofTurn) => {
      const [first = ofTurn[0]] = ofTurn;
      const text = ofTurn.map((chunk) => chunk.text).join('');
      return { ...first, bytes: Buffer.byteLength(text), lines: await packLines(text) };
    }),
  );
  await database.query(WRITE, [
    swarm,
    rows.map(({ instance }) => instance?.agentName ?? ''),
    rows.map(({ instance }) => instance?.instanceKey ?? ''),
    rows.map(({ trace = '' }) => trace),
    rows.map(({ turn = '' }) => turn),
    rows.map(({ at = '' }) => at),
    rows.map(({ bytes }) => bytes),
    rows.map(({ lines }) => lines),
  ]);
}

const WRITE = `
with given as (
  select * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[])
    as given (agent, key, trace, turn, at, bytes, lines)
), turns as (
  insert into gdn_traced_turn (swarm, agent, key, trace, turn, at, bytes)
  select $1, agent, key, trace, turn, at, bytes from given
  on conflict (swarm, agent, key, trace, turn) do update set bytes = gdn_traced_turn.bytes + excluded.bytes
)
insert into gdn_trace_chunk (swarm, agent, key, trace, turn, lines)
select $1, agent, key, trace, turn, decode(lines, 'base64') from given`;

const REMOVE_OLDEST = `
with sized as (
  select agent, key, trace, turn, sum(bytes) over (order by at desc, agent desc, key desc, trace desc, turn desc) as total
  from gdn_traced_turn where swarm = $1
), gone as (
  delete from gdn_traced_turn turn using sized
  where turn.swarm = $1 and sized.total > $2
    and (turn.agent, turn.key, turn.trace, turn.turn) = (sized.agent, sized.key, sized.trace, sized.turn)
  returning turn.agent, turn.key, turn.trace, turn.turn
)
delete from gdn_trace_chunk chunk using gone
where chunk.swarm = $1 and (chunk.agent, chunk.key, chunk.trace, chunk.turn) = (gone.agent, gone.key, gone.trace, gone.turn)`;
