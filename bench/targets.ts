/** The targets of the runtime's speed, and the table that compares them with the figures of a run. */
import { markdownTable } from '../scripts/markdown-table.ts';
import type { Figures } from './figures.ts';
import { medianOf } from './measure.ts';

export interface Target {
  readonly what: string;
  /** The name of the figure. Its first part is the section that measures it. */
  readonly figure: string;
  readonly unit: '×' | ' syncs' | ' bytes' | '/s' | ' ms' | ' KB' | ' files' | '';
  /** The figure may not be above `most`, or not below `least`. */
  readonly limit: { readonly most: number } | { readonly least: number };
  /** A better value that is not required. */
  readonly wanted?: number;
}

export const targets: readonly Target[] = [
  {
    what: 'durable turn of 10 steps, syncs apart, to generateText',
    figure: 'turn.10.apart',
    unit: '×',
    limit: { most: 0.8 },
    wanted: 0.4,
  },
  { what: 'its syncs', figure: 'turn.10.syncs', unit: ' syncs', limit: { most: 11 } },
  {
    what: 'with real syncs, to as many bare syncs',
    figure: 'turn.10.synced',
    unit: '×',
    limit: { most: 2.5 },
  },
  {
    what: 'durable turn of 1 step, syncs apart, to generateText',
    figure: 'turn.1.apart',
    unit: '×',
    limit: { most: 0.9 },
  },
  { what: 'its syncs', figure: 'turn.1.syncs', unit: ' syncs', limit: { most: 2 } },
  { what: 'its bytes', figure: 'turn.1.bytes', unit: ' bytes', limit: { most: 2_048 } },
  { what: 'messages a second, 10 agent processes', figure: 'swarm.ten', unit: '/s', limit: { least: 1_200 } },
  { what: 'messages a second, 1 agent process', figure: 'swarm.one', unit: '/s', limit: { least: 1_200 } },
  {
    what: 'recording every layer, processor time of a message',
    figure: 'swarm.recorded',
    unit: '×',
    limit: { most: 1.25 },
  },
  { what: 'gdn --help', figure: 'commands.help', unit: ' ms', limit: { most: 60 } },
  { what: 'gdn status', figure: 'commands.status', unit: ' ms', limit: { most: 80 } },
  {
    what: 'new conversations a second, many in a process',
    figure: 'conversations.agent.rate',
    unit: '/s',
    limit: { least: 300 },
  },
  {
    what: 'disk space of such a conversation',
    figure: 'conversations.agent.kilobytes',
    unit: ' KB',
    limit: { most: 16 },
  },
  { what: 'its files', figure: 'conversations.agent.files', unit: ' files', limit: { most: 4 } },
  {
    what: 'disk space of a conversation with a process of its own',
    figure: 'conversations.instance.kilobytes',
    unit: ' KB',
    limit: { most: 16 },
  },
  { what: 'its files', figure: 'conversations.instance.files', unit: ' files', limit: { most: 4 } },
  {
    what: 'onion of 10 layers, to a chain that checks its results',
    figure: 'onion.10.checking',
    unit: '×',
    limit: { most: 1.5 },
  },
  { what: 'one-step turn on PostgreSQL, to files', figure: 'cluster.turn', unit: '×', limit: { most: 1.6 } },
  { what: 'processor time of its node and database', figure: 'cluster.engine', unit: ' ms', limit: { most: 5 } },
  { what: 'its statements', figure: 'cluster.statements', unit: '', limit: { most: 8 } },
  { what: 'its commits', figure: 'cluster.commits', unit: '', limit: { most: 6 } },
  { what: 'take-over after a kill, beyond the lease', figure: 'cluster.takeover', unit: ' ms', limit: { most: 1_000 } },
  { what: 'three nodes, to one node', figure: 'cluster.nodes', unit: '×', limit: { least: 2.4 } },
  { what: 'onion of 10 layers, to the minimal chain', figure: 'onion.10.minimal', unit: '×', limit: { most: 2.4 } },
];

export const sectionsOfTargets: readonly string[] = [...new Set(targets.map(sectionOf))];

function sectionOf({ figure }: Target): string {
  return figure.slice(0, figure.indexOf('.'));
}

export type Verdict = 'met' | 'NOT met' | 'not measured';

/** The figure is compared as it was measured, not as it is printed. */
export function judge({ limit }: Pick<Target, 'limit'>, figure: number | undefined): Verdict {
  if (figure === undefined || Number.isNaN(figure)) return 'not measured';
  const isMet = 'most' in limit ? figure <= limit.most : figure >= limit.least;
  return isMet ? 'met' : 'NOT met';
}

/** Returns the medians of several runs. A figure that some runs did not measure is the median of the others. */
export function mediansOf(runs: readonly Figures[]): Figures {
  const names = new Set(runs.flatMap((run) => Object.keys(run)));
  const valuesOf = (name: string) => runs.flatMap((run) => run[name] ?? []);
  return Object.fromEntries(Array.from(names, (name) => [name, medianOf(valuesOf(name))]));
}

/** Returns the table of the targets that these sections measure; an empty text when there are none. */
export function targetTable(runs: readonly Figures[], sections: readonly string[]): string {
  const figures = mediansOf(runs);
  const chosen = targets.filter((target) => sections.includes(sectionOf(target)));
  const rows = chosen.map((target) => {
    const figure = figures[target.figure];
    const sign = 'most' in target.limit ? '≤' : '≥';
    const limit = Object.values(target.limit)[0] ?? Number.NaN;
    const wanted = target.wanted === undefined ? '' : `, wanted ${sign} ${target.wanted}${target.unit}`;
    const measured = figure === undefined ? '' : `${round(figure)}${target.unit}`;
    return [target.what, measured, `${sign} ${limit}${target.unit}${wanted}`, judge(target, figure)];
  });
  return markdownTable(['', runs.length === 1 ? 'measured' : `median of ${runs.length} runs`, 'target', ''], rows);
}

function round(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value < 10 ? value.toFixed(2) : value.toFixed(value < 100 ? 1 : 0);
}
