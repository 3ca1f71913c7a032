// Tests turns of a swarm in PostgreSQL from the outside: every command is a process, as a person with `--store` runs it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from '../../../postgres/src/testing/with-postgres.ts';
import type { TurnPrompts } from '@goondan/runtime/history';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTestDatabase, type TestDatabase } from '../../../postgres/src/testing/test-database.ts';
import { anthropicCase } from '../../../runtime/src/agent/model/providers/wire/provider-cases.ts';
import { startWireServer } from '../../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import type { UsageReport } from '../usage/sum-spendings.ts';

setDefaultTimeout(90_000);

const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const answer = { city: 'Seoul' };
const { model } = anthropicCase;
const prices = (...more: string[]) =>
  `currency: USD\nmodels: [{ provider: anthropic, model: ${model}, input: 1000, output: 2000, ${more.join('')}source: invented, date: 2026-11-17 }]\n`;

const server = startWireServer(anthropicCase.dialect);
const place = new GdnPlace();
const store = join(place.folder, 'store');
let database: TestDatabase;

const env = { GOONDAN_STORE: undefined, GOONDAN_CLUSTER_TOKEN: 'only-the-nodes-of-a-test-know-this-token-0123456789' };
const gdn = (...args: string[]) => place.runProcessWith({ env }, ...args, '--bundle', 'bundle', '--store', `@${store}`);
async function json(...args: string[]): Promise<unknown> {
  const { stdout, stderr, exitCode } = await gdn(...args, '--json');
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
}

beforeAll(async () => {
  database = await makeTestDatabase({ hasTables: false });
  writeFileSync(store, `${database.address}\n`);
  chmodSync(store, 0o600);
  writeFileSync(join(place.folder, 'city.png'), Buffer.from(picture, 'base64'));
  const resources = [
    `kind: Model, metadata: { name: claude }, spec: { provider: anthropic, model: ${model}, apiKey: key, endpoint: "${server.url}/v1" }`,
    'kind: Agent, metadata: { name: desk }, spec: { modelConfig: { modelRef: Model/claude }, prompt: { system: Be brief. } }',
    'kind: Swarm, metadata: { name: hotel }, spec: { entryAgent: Agent/desk, agents: [Agent/desk], policy: { spares: 0 } }',
  ];
  await place.write('.', {
    'bundle/goondan.yaml': resources.map((resource) => `{ apiVersion: goondan.ai/v1, ${resource} }\n`).join('---\n'),
    'city.json': JSON.stringify({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
    'prices.yaml': prices('cacheRead: 100, cacheWrite: 3000, '),
    'fewer-prices.yaml': prices(),
  });
  const made = await place.runWith({ env: { ...env, GOONDAN_STORE: database.address } }, 'store', 'init');
  expect(made).toMatchObject({ exitCode: 0 });
});
afterAll(async () => {
  await database.drop();
  await server[Symbol.asyncDispose]();
  expect(await place.remove()).toEqual([]);
});

test('Y-01 Y-02 S-01 gdn run sends a file and demands a schema, and gdn send does so with a running node', async () => {
  const usage = { input: 100, output: 10, cached: 30, written: 20 };
  const said = (text: string) => ({ reply: { usage, text: [text] } });
  const asked = ['--input', 'Which city is this?', '--file', 'city.png', '--schema', 'city.json'];
  server.answer(said('A city.'), said(JSON.stringify(answer)));
  expect(await json('run', '--trust', ...asked)).toMatchObject({ output: answer, steps: 2 });
  // Both requests have the picture, and the second one has the problem of the first answer.
  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  expect(bodies.map((body) => [body.includes(picture), body.includes('does not fit')])).toEqual([
    [true, false],
    [true, true],
  ]);

  await place.serveWith({ env: { ...env, GOONDAN_STORE: `@${store}` } }, 'bundle');
  expect(await json('send', ...asked, '--instance', 'second', '--wait')).toMatchObject({ output: answer, steps: 1 });
  expect(JSON.stringify(server.requests[2]?.body)).toContain(picture);
  expect((await gdn('history', 'desk', 'second')).stdout).toContain('Which city is this? [image city.png, 70 B]');
  expect(await gdn('stop')).toMatchObject({ exitCode: 0 });
});

test('V-01 S-01 gdn trace --prompt shows the body that the server got, although no node runs', async () => {
  const { calls } = (await json('trace', '--prompt')) as TurnPrompts;
  expect(calls.map(({ isExact, body }) => [isExact, JSON.stringify(body)])).toEqual([
    [true, JSON.stringify(server.requests[2]?.body)],
  ]);
  const { stdout } = await gdn('trace', 'last', '--prompt', '0');
  expect(stdout).toContain('\nexact  the body that @ai-sdk/anthropic');
  expect(stdout).toContain('\nsystem  system prompt of agent desk\n    Be brief.\n');
});

test('Y-03 S-01 gdn usage --prices has the tokens that the server counted, their cost, and never a guessed one', async () => {
  const usage = { inputTokens: 300, outputTokens: 30, totalTokens: 330, cachedInputTokens: 90, cacheWriteTokens: 60 };
  // Of 300 input tokens, 150 have the price of input, 90 that of a cache read, and 60 that of a cache write.
  const cost = (150 * 1_000 + 90 * 100 + 60 * 3_000 + 30 * 2_000) / 1_000_000;
  const { rows, currency, unpriced } = (await json('usage', '--by', 'model', '--prices', 'prices.yaml')) as UsageReport;
  expect({ rows, currency, unpriced }).toEqual({
    rows: [{ provider: 'anthropic', model, calls: 3, usage, cost: expect.closeTo(cost, 9) }],
    currency: 'USD',
    unpriced: undefined,
  });
  const { stdout, stderr } = await gdn('usage', '--prices', 'fewer-prices.yaml');
  expect(stdout).toMatch(/^desk +3 +300 +30 +90 +60 +3 unpriced$/m);
  expect(stderr).toBe(`The price file has no \`cacheRead\` and no \`cacheWrite\` of anthropic/${model}.\n`);
});
