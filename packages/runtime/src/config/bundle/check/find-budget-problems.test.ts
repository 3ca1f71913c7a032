// Tests the mistakes in budgets that `gdn validate` and every start find. `‸` marks the place that the problem must name.
import { expect, test } from 'bun:test';
import type { ErrorCode } from '@goondan/types';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { loadBundle } from '../load-bundle.ts';

const head = (kind: string, name: string) => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const script = 'provider: scripted, model: m, options: { script: [{ say: hi }] }';

interface Written {
  /** The config of the extension, as YAML in one line or several. */
  readonly config: string;
  readonly params?: string;
  readonly agentParams?: string;
  readonly model?: string;
}

async function find({ config, params = '{}', agentParams = '{}', model }: Written) {
  const marked = [
    `${head('Model', 'm')}spec: { ${script}, params: ${params} }\n`,
    `${head('Agent', 'a')}spec: { modelConfig: { modelRef: ${model ?? 'Model/m'}, params: ${agentParams} } }\n`,
    `${head('Swarm', 'default')}spec:\n  entryAgent: Agent/a\n  agents: [Agent/a]\n  extensions:\n    - ref: Extension/budget\n      config: ${config}\n`,
  ].join('---\n');
  const before = marked.slice(0, Math.max(0, marked.indexOf('‸'))).split('\n');
  using files = temporaryBundle({ 'goondan.yaml': marked.replace('‸', '') });
  const { errors } = await loadBundle(files.folder, { environment: {} });
  const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  return { errors, place };
}

const prices = (more = '') =>
  `{ currency: USD, models: [{ provider: scripted, model: m, input: 1, output: 2, source: a test, date: 2026-11-17${more} }] }`;

test.each<[string, Written, ErrorCode]>([
  ['1e300 calls', { config: '{ budgets: [{ calls: ‸1e300 }] }' }, 'E_EXT_CONFIG'],
  [
    'a number that JavaScript cannot count with',
    { config: '{ budgets: [{ tokens: ‸9007199254740993 }] }', params: '{ maxTokens: 5 }' },
    'E_EXT_CONFIG',
  ],
  ['a typing mistake', { config: '{ budgets: [‸{ call: 2 }] }' }, 'E_EXT_CONFIG'],
  ['two measures', { config: '{ budgets: [‸{ calls: 2, tokens: 3 }] }' }, 'E_EXT_CONFIG'],
  ['no measure', { config: '{ budgets: [{ calls: 1 }, ‸{ scope: agent }] }' }, 'E_EXT_CONFIG'],
  [
    'a name twice',
    { config: '{ budgets: [{ calls: 1, name: x }, { calls: 2, scope: agent, name: ‸x }] }' },
    'E_EXT_CONFIG',
  ],
  [
    'a budget whose name is made like that of another one',
    { config: '{ budgets: [{ calls: 1, name: calls of the swarm }, ‸{ calls: 2 }] }' },
    'E_EXT_CONFIG',
  ],
  [
    'two budgets without names that count the same',
    { config: '{ budgets: [{ calls: 1 }, ‸{ calls: 2, scope: swarm }] }' },
    'E_EXT_CONFIG',
  ],
  ['money without prices', { config: '{ budgets: [{ money: ‸5 }] }' }, 'E_EXT_CONFIG'],
  [
    'a wrong price',
    { config: `{ budgets: [{ money: 5 }], prices: ${prices().replace('input: 1', 'input: ‸-1')} }` },
    'E_EXT_CONFIG',
  ],
  ['tokens without a maximum', { config: '{ budgets: [{ tokens: ‸5 }] }' }, 'E_BUDGET_UNBOUNDED'],
  [
    'tokens of a model without a resource',
    { config: '{ budgets: [{ tokens: ‸5 }] }', model: 'openai/some-model' },
    'E_BUDGET_UNBOUNDED',
  ],
  [
    'money without a price of the model',
    {
      config: `{ budgets: [{ money: ‸5 }], prices: ${prices().replace('model: m', 'model: other')} }`,
      params: '{ maxTokens: 5 }',
    },
    'E_BUDGET_UNBOUNDED',
  ],
])('Y-04 %s: one error before the start, at its place', async (_title, written, code) => {
  const { errors, place } = await find(written);
  expect(errors).toMatchObject([{ code, file: 'goondan.yaml', ...place }]);
  expect(errors.map(({ message, suggestion }) => `${message} ${suggestion}`).join('\n')).toMatchSnapshot();
});

test.each([
  ['calls need no maximum', { config: '{ budgets: [{ calls: 5 }, { calls: 5, per: day }, { calls: 5, name: x }] }' }],
  ['the maximum of the model', { config: '{ budgets: [{ tokens: 5 }] }', params: '{ maxTokens: 5 }' }],
  ['the maximum of the agent', { config: '{ budgets: [{ tokens: 5 }] }', agentParams: '{ maxTokens: 5 }' }],
  [
    'the maximum of the price file',
    { config: `{ budgets: [{ tokens: 5 }, { money: 0.5 }], prices: ${prices(', maxOutputTokens: 9')} }` },
  ],
])('a budget without mistakes: %s', async (_title, written) => {
  expect((await find(written)).errors).toEqual([]);
});
