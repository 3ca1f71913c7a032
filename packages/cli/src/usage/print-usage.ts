/** Prints the report of `gdn usage` as a table. */
import { cutToWidth } from '../fit-width.ts';
import { harmlessText } from '../harmless-text.ts';
import { renderTable } from '../render-table.ts';
import type { Terminal } from '../terminal.ts';
import type { UsageReport, UsageRow, UsageSum } from './sum-spendings.ts';

const LONGEST_NAME = 60;

export function printUsage(report: UsageReport, terminal: Terminal): void {
  const { by, rows, total, currency } = report;
  const heads = [by, 'calls', 'input', 'output', 'from cache', 'to cache', ...(currency === undefined ? [] : ['cost'])];
  const cells = [
    ...rows.map((row) => [nameOf(row), ...countsOf(row, currency)]),
    ...(rows.length > 1 ? [['total', ...countsOf(total, currency)]] : []),
  ];
  terminal.print(renderTable(heads, cells, terminal, { alignsRight: true }));
  for (const note of notesOf(report)) terminal.printError(`${note}\n`);
}

function nameOf({ agent, instanceKey, provider, model, day, extension }: UsageRow): string {
  if (instanceKey !== undefined) return shown(`${agent} / ${instanceKey ?? '(deleted conversations)'}`);
  if (model !== undefined) return shown(`${provider}/${model}`);
  if (extension !== undefined) return shown(extension ?? '(steps)');
  return shown(agent ?? day ?? '');
}

function shown(name: string): string {
  return cutToWidth(harmlessText(name), LONGEST_NAME);
}

function countsOf({ calls, usage, cost, unpricedCalls }: UsageSum, currency: string | undefined): string[] {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const counts = [calls, inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens].map(String);
  if (currency === undefined) return counts;
  const known = cost === undefined ? [] : [`${cost.toFixed(4)} ${currency}`];
  const unknown = unpricedCalls === undefined ? [] : [`${unpricedCalls} unpriced`];
  return [...counts, [...known, ...unknown].join(' + ')];
}

function notesOf({ unpriced = [], missingPrices = {}, problems = [] }: UsageReport): string[] {
  const unknown = unpriced.filter((name) => missingPrices[name] === undefined).map(harmlessText);
  return [
    ...(unknown.length === 0 ? [] : [`The price file does not have ${unknown.join(', ')}.`]),
    ...Object.entries(missingPrices).map(([name, fields]) => {
      return `The price file has no ${fields.map((field) => `\`${field}\``).join(' and no ')} of ${harmlessText(name)}.`;
    }),
    ...problems.map((problem) => `warn: not counted: ${harmlessText(problem)}`),
  ];
}
