// Tests a budget of money with the commands of `gdn`, real processes, a price file, and a local server that counts.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, setDefaultTimeout } from 'bun:test';
import { connectSwarm } from '@goondan/runtime';
import { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import { testInProof } from '../samples.ts';
import { limitedBundle } from './bundle.ts';
import { startProvider } from './provider.ts';
import { until } from '../until.ts';

setDefaultTimeout(90_000);

const price = { provider: 'openai-compatible', model: 'counted', input: 2, output: 10, maxOutputTokens: 1_000 };
const prices = { currency: 'USD', models: [{ ...price, source: 'a test', date: '2026-11-17' }] };

// In `npm test`, packages/base/src/extensions/budget/register.test.ts has the same rule.
testInProof('Y-04 a budget of money asks before it is exceeded, and spends what the price file says', async () => {
  // A call costs 1000 × 2 + 500 × 10 millionths: 0.007 dollars. It reserves 0.01 dollars for 1000 tokens of output.
  await using provider = startProvider({ usage: { input: 1_000, output: 500 } });
  const config = { budgets: [{ name: 'daily', money: 0.03, per: 'day', onBreach: 'ask' }], prices };
  const extensions = [{ ref: 'Extension/budget', config }];
  const place = new GdnPlace();
  const files = limitedBundle({ url: provider.url, agents: ['a'], extensions });
  await place.write('bundle', { ...files, 'prices/models.yaml': JSON.stringify(prices) });
  const gdn = (...args: string[]) => place.run(...args, '--bundle', 'bundle');
  await place.serve('bundle');
  const [workspaceId = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
  const swarm = await connectSwarm({ stateRoot: place.stateRoot, workspaceId });
  const ask = (input: string) => swarm.ask({ agent: 'a', instanceKey: input, input });
  const question = async () => {
    await until(async () => (await swarm.questions()).length === 1, { about: 'a person is asked' });
    return (await swarm.questions())[0]?.id ?? '';
  };

  // Three calls cost 0.021 dollars. With 0.01 more, the fourth could exceed 0.03.
  for (const input of ['1', '2', '3']) expect((await ask(input)).result.error).toBeUndefined();
  const fourth = ask('4');
  const first = await question();
  expect(provider.requests).toHaveLength(3);
  const { stdout: listed } = await gdn('approve');
  expect(listed).toContain('a (4) needs more of a budget');
  expect(listed).toMatch(
    /The budget "daily" allows 0\.03 USD a day: 0\.021 used, 0 reserved by running calls, and this call may need 0\.01\d* *\. Approve 0\.03 USD more\?/,
  );
  expect((await gdn('approve', first)).stdout).toBe('Approved: the budget grows when the turn goes on.\n');
  expect((await fourth).result.error).toBeUndefined();

  for (const input of ['5', '6', '7', '8']) expect((await ask(input)).result.error).toBeUndefined();
  const ninth = ask('9');
  expect((await gdn('deny', await question(), '--reason', 'Enough.')).stdout).toBe(
    'Denied: the budget stays as it is.\n',
  );
  expect((await ninth).result.error).toMatchObject({
    code: 'E_BUDGET_EXCEEDED',
    message: expect.stringMatching(/0\.06 USD a day: 0\.056 used, .* A person denied more: Enough\.$/),
  });
  expect(provider.requests).toHaveLength(8);
  const { stdout: spent } = await gdn(
    'usage',
    '--by',
    'model',
    '--prices',
    join(place.folder, 'bundle/prices/models.yaml'),
  );
  expect(spent).toContain('0.0560 USD');
  expect((await gdn('stop')).exitCode).toBe(0);
  expect(await place.remove()).toEqual([]);
});
