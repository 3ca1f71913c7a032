import type { MiddlewareKind } from '@goondan/types';
import { createColors } from '../colors.ts';
import { describeGrant } from '../question/describe-grant.ts';
import type { ExplainedLayer, Explanation } from './explain-agent.ts';

/**
 * Describes the onion for people: inner parts are indented further. `suggest`: see `Terminal`.
 *
 * @example
 * turn
 *   guard/audit  swarm, priority 100
 *     step (no layers)
 */
export function describeOnion(explanation: Explanation, suggest: (text: string) => string): string {
  const { agent, source, extensions, layers, mayAsk, output, allowed = [], ...offer } = explanation;
  const { packages } = offer;
  const lines = [
    `Agent ${printable(agent)}: ${origin[source]}.`,
    '',
    ...(layers === null ? ['Layers: not known yet.'] : aligned(onion(layers))),
    '',
    `Extensions: ${list(extensions.map((name) => withPackage(name, packages[`Extension/${name}`])))}`,
    ...describeTools(offer),
    ...(mayAsk === undefined ? [] : [`May ask:    ${list(mayAsk)}`]),
    ...(output === undefined ? [] : ['Answers:    JSON that fits the schema in spec.output (--json shows it)']),
    ...(allowed.length === 0 ? [] : ['', suggest('Always allowed, without a question; `gdn deny ID` revokes it:')]),
    ...allowed.map((grant) => describeGrant(grant, createColors(false), false).trimEnd()),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * Lists the tools of each extension on a separate line, with the time they were last seen, and the tools of each
 * package.
 */
export function describeTools({
  toolSources,
  unknownTools,
  packages,
  schemaInCode = [],
}: Pick<Explanation, 'toolSources' | 'unknownTools' | 'packages' | 'schemaInCode'>): string[] {
  const groups = new Map<string, string[]>();
  for (const { name, from, seenAt } of toolSources) {
    const home = packages[from] === undefined ? '' : `of ${packages[from]}`;
    const title = seenAt === null ? home : `${from.replace(/^Extension\//, '')}, seen ${seenAt}`;
    groups.set(title, [...(groups.get(title) ?? []), name]);
  }
  const own = groups.get('') ?? [];
  groups.delete('');
  const more = [
    ...Array.from(groups, ([title, names]) => `${list(names)} (${printable(title)})`),
    ...unknownTools.map(({ extension, test }) => {
      const how = test === null ? 'known after a turn' : `\`${test}\``;
      return `${printable(extension)}: tools unknown: ${how}`;
    }),
    ...schemaInCode.map((tool) => `${printable(tool)}: schema in code, known after a start or with \`--load\``),
  ];
  const [first = 'none', ...others] = own.length === 0 ? more : [list(own), ...more];
  return [`Tools:      ${first}`, ...others.map((text) => `            ${text}`)];
}

const origin = {
  declared: 'what is declared',
  'last-run': 'as it was at its last start, the outermost layer first',
  loaded: 'as it was loaded just now, the outermost layer first',
} as const;

interface Row {
  readonly name: string;
  readonly about?: string;
}

type Layers = NonNullable<Explanation['layers']>;

/** Nests the chains: a turn contains its steps, and a step contains its model call and its tool calls. */
function onion(layers: Layers): Row[] {
  const turn = chain('turn', layers, 0);
  const step = chain('step', layers, turn.depth);
  return [
    ...turn.rows,
    ...step.rows,
    ...chain('model', layers, step.depth).rows,
    ...chain('toolCall', layers, step.depth).rows,
  ];
}

function chain(kind: MiddlewareKind, layers: Layers, depth: number): { rows: Row[]; depth: number } {
  const head = { name: `${indent(depth)}${kind}${layers[kind].length === 0 ? ' (no layers)' : ''}` };
  const rows = layers[kind].map((layer, index) => ({
    name: `${indent(depth + 1 + index)}${printable(`${layer.extension}/${layer.name}`)}`,
    about: describe(layer),
  }));
  return { rows: [head, ...rows], depth: depth + 1 + rows.length };
}

function describe({ tier, priority, mayShortCircuit, timeoutMs, onError, buffers }: ExplainedLayer): string {
  const more = [
    mayShortCircuit ? 'may short-circuit' : undefined,
    timeoutMs === undefined ? undefined : `at most ${timeoutMs} ms`,
    onError === 'skip' ? 'skipped when it fails' : undefined,
    buffers ? 'holds back the stream' : undefined,
  ];
  return [`${tier}, priority ${priority}`, ...more.filter((part) => part !== undefined)].join(', ');
}

/** The maximum indentation, so that lines stay readable. */
const DEEPEST = 24;

function indent(depth: number): string {
  return '  '.repeat(Math.min(depth, DEEPEST));
}

function aligned(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(({ name, about }) => (about === undefined ? 0 : name.length)));
  return rows.map(({ name, about }) => (about === undefined ? name : `${name.padEnd(width)}  ${about}`));
}

function withPackage(name: string, from: string | undefined): string {
  return from === undefined ? name : `${name} (of ${from})`;
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map(printable).join(', ');
}

/** Replaces control characters, because extensions choose the names of their layers. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�');
}
