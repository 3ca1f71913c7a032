/** Reads the log lines of all nodes, in the order of their times. */
import type { LogLine } from '@goondan/runtime';
import type { LogQuestion, LogReader } from '@goondan/runtime/history';
import { decodeLogLine, isAskedFor } from '@goondan/runtime/internal';
import type { Database } from '../driver/database.ts';
import { unpackLines } from './pack-lines.ts';

/** The chunks of one statement. A chunk has about 64 KB of lines. */
const PAGE = 8;

interface FoundLine {
  readonly line: LogLine;
  readonly part: number;
  readonly index: number;
}

interface ChunkRow {
  readonly [column: string]: unknown;
  readonly part: number;
  readonly node: string;
  readonly last_at: string;
  readonly lines: Uint8Array;
}

export function openLogReader(database: Database, swarm: string): LogReader {
  return {
    async read(question) {
      let newest: FoundLine[] = [];
      let before: ChunkRow | undefined;
      for (;;) {
        const rows: readonly ChunkRow[] = await database.query<ChunkRow>(
          before === undefined ? FIRST_PAGE : NEXT_PAGE,
          before === undefined ? [swarm] : [swarm, before.last_at, before.part],
        );
        for (const row of rows) newest.push(...(await matchingLines(row, question)));
        // Lines that are older than enough others are not needed any more.
        newest = newest.toSorted(byTime).slice(-Math.max(0, question.last) || newest.length);
        before = rows.at(-1);
        // The chunks that are not read have no line after this time.
        const bound = before?.last_at;
        const isEnough = newest.length >= question.last && bound !== undefined && timeOf(newest[0]) > bound;
        if (rows.length < PAGE || isEnough || question.last <= 0) break;
      }
      return question.last <= 0 ? [] : newest.map(({ line }) => line);
    },
  };
}

async function matchingLines({ part, node, lines }: ChunkRow, question: LogQuestion): Promise<FoundLine[]> {
  return (await unpackLines(lines)).split('\n').flatMap((text, index) => {
    const decoded = text === '' ? undefined : decodeLogLine(text);
    const line = decoded && { ...decoded, node };
    return line && isAskedFor(line, question) ? [{ line, part, index }] : [];
  });
}

function byTime(one: FoundLine, other: FoundLine): number {
  const [first, second] = [timeOf(one), timeOf(other)];
  if (first !== second) return first < second ? -1 : 1;
  return one.part - other.part || one.index - other.index;
}

function timeOf(found: FoundLine | undefined): string {
  return found?.line.time ?? '';
}

const COLUMNS = 'select part, node, last_at, lines from gdn_log where swarm = $1';
const ORDER = `order by last_at desc, part desc limit ${PAGE}`;
const FIRST_PAGE = `${COLUMNS} ${ORDER}`;
const NEXT_PAGE = `${COLUMNS} and (last_at, part) < ($2, $3) ${ORDER}`;
