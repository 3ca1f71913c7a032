/** Shows the model calls and tokens that a swarm has spent, and their cost, summed up by a fact that the person chooses. */
import type { UsageView } from '@goondan/cli/studio';
import { useState } from 'react';
import { addressOf } from '../server/ask-server.ts';
import { useQuery } from '../server/use-query.ts';

const facts: readonly UsageView['by'][] = ['agent', 'model', 'day', 'conversation', 'extension'];

export function Usage({ workspaceId, version }: { readonly workspaceId: string; readonly version: number }) {
  const [by, choose] = useState<UsageView['by']>('agent');
  const usage = useQuery<UsageView>(addressOf(workspaceId, 'usage', { by }), version);
  if (usage.value === undefined || usage.value.total.calls === 0) return null;
  return (
    <section>
      <h2>Usage</h2>
      <p>
        <label>
          By{' '}
          <select value={by} onChange={({ target }) => choose(facts.find((fact) => fact === target.value) ?? 'agent')}>
            {facts.map((fact) => (
              <option key={fact}>{fact}</option>
            ))}
          </select>
        </label>
      </p>
      <UsageTable usage={usage.value} />
    </section>
  );
}

export function UsageTable({ usage }: { readonly usage: UsageView }) {
  const { by, rows, total, currency, problems = [] } = usage;
  const heads = [by, 'calls', 'input', 'output', 'from cache', 'to cache'];
  return (
    <>
      <table className="turns usage" aria-label={`Usage by ${by}`}>
        <thead>
          <tr>
            {[...heads, ...(currency === undefined ? [] : ['cost'])].map((head) => (
              <th key={head} className="quiet" scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Counts key={nameOf(row)} name={nameOf(row)} sum={row} currency={currency} />
          ))}
          {rows.length > 1 && <Counts name="total" sum={total} currency={currency} />}
        </tbody>
      </table>
      {notesOf(usage).map((note) => (
        <p key={note} className="quiet">
          {note}
        </p>
      ))}
      {problems.map((problem) => (
        <p key={problem} className="bad">
          Not counted: {problem}
        </p>
      ))}
    </>
  );
}

/** Says which prices the price file lacks, as `gdn usage` does. */
function notesOf({ unpriced = [], missingPrices = {} }: UsageView): string[] {
  const unknown = unpriced.filter((name) => missingPrices[name] === undefined);
  return [
    ...(unknown.length === 0 ? [] : [`The price file does not have ${unknown.join(', ')}.`]),
    ...Object.entries(missingPrices).map(([name, fields]) => {
      return `The price file has no ${fields.map((field) => `\`${field}\``).join(' and no ')} of ${name}.`;
    }),
  ];
}

interface CountsProps {
  readonly name: string;
  readonly sum: UsageView['total'];
  readonly currency: string | undefined;
}

function Counts({ name, sum, currency }: CountsProps) {
  const { calls, usage } = sum;
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  return (
    <tr>
      <td>{name}</td>
      <td>{calls}</td>
      <td>{inputTokens}</td>
      <td>{outputTokens}</td>
      <td>{cachedInputTokens}</td>
      <td>{cacheWriteTokens}</td>
      {currency !== undefined && <td>{costText(sum, currency)}</td>}
    </tr>
  );
}

/** Returns the known cost, and the number of calls without a known price, which are not guessed. */
function costText({ cost, unpricedCalls }: UsageView['total'], currency: string): string {
  const known = cost === undefined ? [] : [`${cost.toFixed(4)} ${currency}`];
  const unknown = unpricedCalls === undefined ? [] : [`${unpricedCalls} unpriced`];
  return [...known, ...unknown].join(' + ');
}

function nameOf({ agent, instanceKey, provider, model, day, extension }: UsageView['rows'][number]): string {
  if (instanceKey !== undefined) return `${agent} / ${instanceKey ?? '(deleted conversations)'}`;
  if (model !== undefined) return `${provider}/${model}`;
  if (extension !== undefined) return extension ?? '(steps)';
  return agent ?? day ?? '';
}
