/** The rows of `npm run bench -- peers`, the tasks of their programs, and the tables. */
import { markdownTable } from '../../scripts/markdown-table.ts';
import { medianOf } from '../measure.ts';

export const tasks = ['first', 'ten', 'memory', 'history'] as const;
export type Task = (typeof tasks)[number];

/** The result of a task: the figures that the task measures, or the reason why there are none. */
export interface Outcome extends Readonly<Partial<Record<Figure, number>>> {
  /** Settings of the store. */
  readonly settings?: string;
  readonly problem?: string;
}

const figures = ['microseconds', 'bytes', 'milliseconds', 'megabytes'] as const;
type Figure = (typeof figures)[number];

/** Returns the medians of several rounds. If a round failed, its problem is the result. */
export function medians(rounds: readonly Outcome[]): Outcome {
  const failed = rounds.find(({ problem }) => problem !== undefined);
  if (failed !== undefined) return failed;
  const measured = figures.flatMap((figure) => {
    const values = rounds.flatMap((round) => round[figure] ?? []);
    return values.length === 0 ? [] : [[figure, medianOf(values)]];
  });
  return { ...rounds[0], ...Object.fromEntries(measured) };
}

export interface PeerRow {
  readonly framework: string;
  readonly name: string;
  /** Where the conversation is: in memory, or on disk with every step synced. Absent: not in the short table. */
  readonly keeps?: 'memory' | 'disk';
  readonly runtime: string;
  readonly outcomes: Readonly<Partial<Record<Task, Outcome>>>;
}

const head = [
  '',
  'turn of 10 steps',
  'bytes written',
  'turn of 1 step, 10 000 messages',
  'bytes written',
  'spawn to first answer',
  'memory after 200 turns',
];

export function peerTable(rows: readonly PeerRow[]): string {
  return markdownTable(
    head,
    rows.map(({ name, outcomes }) => [
      name,
      cell(outcomes.ten, 'microseconds', microseconds),
      cell(outcomes.ten, 'bytes', bytes),
      cell(outcomes.history, 'microseconds', microseconds),
      cell(outcomes.history, 'bytes', bytes),
      cell(outcomes.first, 'milliseconds', wholeMilliseconds),
      cell(outcomes.memory, 'megabytes', megabytes),
    ]),
  );
}

/** Renders the table of README.md: a row for each framework. Start and memory are those of its most durable row. */
export function shortTable(rows: readonly PeerRow[]): string {
  const shown = rows.filter(({ keeps }) => keeps !== undefined);
  const frameworks = [...new Set(shown.map(({ framework }) => framework))];
  const lines = frameworks.map((framework) => {
    const outcomesOf = (keeps: PeerRow['keeps']) =>
      shown.find((row) => row.framework === framework && row.keeps === keeps)?.outcomes;
    const [inMemory, onDisk] = [outcomesOf('memory'), outcomesOf('disk')];
    const { first, memory } = onDisk ?? inMemory ?? {};
    return [
      framework,
      cell(inMemory?.ten, 'microseconds', milliseconds, '—'),
      cell(onDisk?.ten, 'microseconds', milliseconds, '—'),
      cell(memory, 'megabytes', megabytes, '—'),
      cell(first, 'milliseconds', wholeMilliseconds, '—'),
    ];
  });
  return markdownTable(['', 'turn', 'durable turn', 'memory', 'start'], lines);
}

/** Puts the text between the two comments of a page. */
export function writeBetween(page: string, text: string): string {
  const place = /(?<=^<!-- peers -->\n)[^]*?(?=^<!-- \/peers -->$)/m;
  if (!place.test(page)) throw new Error('The page has no <!-- peers --> and <!-- /peers -->.');
  return page.replace(place, () => `\n${text.trim()}\n\n`);
}

/** Describes the runtime and the store of each row, and lists the reasons for missing cells. */
export function peerNotes(rows: readonly PeerRow[]): string {
  return rows
    .map(({ name, runtime, outcomes }) => {
      const settings = outcomes.first?.settings ?? '';
      const problems = new Set(Object.values(outcomes).flatMap(({ problem }) => problem ?? []));
      return `- ${[`${name}: ${runtime}`, settings, ...problems].filter((part) => part !== '').join('; ')}`;
    })
    .join('\n');
}

function cell(
  outcome: Outcome | undefined,
  figure: Figure,
  show: (value: number) => string,
  absent = 'none, see below',
): string {
  if (outcome === undefined || outcome.problem !== undefined) return absent;
  const value = outcome[figure];
  // The bytes of a process are known on Linux only; JSON has no NaN, so they arrive as null.
  return typeof value === 'number' ? show(value) : 'unknown';
}

function microseconds(value: number): string {
  return value < 10_000 ? `${value.toFixed(0)} µs` : `${(value / 1_000).toFixed(0)} ms`;
}

const milliseconds = (value: number) => `${(value / 1_000).toFixed(1)} ms`;
const wholeMilliseconds = (value: number) => `${value.toFixed(0)} ms`;
const megabytes = (value: number) => `${value.toFixed(0)} MB`;

function bytes(value: number): string {
  return value < 10_000 ? value.toFixed(0) : `${(value / 1_024).toFixed(0)} KB`;
}
