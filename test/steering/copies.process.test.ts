/** Backups and imports that are made while a turn has taken inputs and others wait: every copy has each input once. */
import { afterAll, beforeAll, expect, setDefaultTimeout } from '../../packages/postgres/src/testing/with-postgres.ts';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '@goondan/types';
import { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { testInProof } from '../samples.ts';
import { until } from '../until.ts';

setDefaultTimeout(90_000);

const place = new GdnPlace();
const files = { GOONDAN_STORE: undefined, GOONDAN_CLUSTER_TOKEN: undefined };
/** The backups, and whether the restored one is imported into PostgreSQL. */
const copies = [
  ['during', true],
  ['during', false],
  ['after', true],
  ['after', false],
] as const;

beforeAll(async () => {
  const resources = [
    `kind: Model, metadata: { name: script }, spec: { provider: scripted, model: script, options: { script: [
      { when: ^work, call: { tool: gate__pass, args: { gate: one } } },
      { when: ^now A, call: { tool: gate__pass, args: { gate: two } } },
      { when: ^later C, call: { tool: gate__pass, args: { gate: three } } },
      { say: "Done: {{input}}" }] } }`,
    'kind: Agent, metadata: { name: host }, spec: { modelConfig: { modelRef: Model/script }, tools: [Tool/gate] }',
    `kind: Tool, metadata: { name: gate }, spec: { entry: ./gate.ts, exports: [
      { name: pass, description: Waits until a gate is open., idempotent: true }] }`,
    'kind: Swarm, metadata: { name: steered }, spec: { entryAgent: Agent/host, agents: [Agent/host], policy: { spares: 0 } }',
  ];
  await place.write('bundle', {
    'goondan.yaml': resources.map((resource) => `{ apiVersion: goondan.ai/v1, ${resource} }\n`).join('---\n'),
    'gate.ts': `import { existsSync, writeFileSync } from 'node:fs';
      export const handlers = {
        async pass(ctx, { gate }) {
          const path = ${JSON.stringify(place.folder)} + '/' + gate;
          writeFileSync(path + '.reached', '');
          while (!existsSync(path + '.open')) await new Promise((resolve) => setTimeout(resolve, 10));
          return { gate };
        },
      };`,
  });
});
afterAll(async () => expect(await place.remove()).toEqual([]));

testInProof('Y-08 S-08 a backup and an import have inputs that a turn took, and those that wait, once', async () => {
  await place.serveWith({ env: files }, 'bundle');
  await send(files, 'work');
  await reached('one');
  // It waits below the numbers of those that the turn takes.
  await send(files, 'later C');
  await send(files, 'now A', '--now', '--id', 'a');
  open('one');
  // The running turn has taken A, and B waits for its next boundary.
  await reached('two');
  await send(files, 'now B', '--now');
  await gdn(files, 'backup', 'during', '--bundle', 'bundle');
  open('two');
  // The turn that took A and B is committed, and that of C runs.
  await reached('three');
  await gdn(files, 'backup', 'after', '--bundle', 'bundle');
  open('three');
  const expected = ['work', 'now A', 'now B', 'later C', 'last'];
  expect(await inputsAtEnd(files)).toEqual(expected);
  await gdn(files, 'stop', '--bundle', 'bundle');

  for (const [copy, isImported] of copies) {
    const root = { GOONDAN_STATE_ROOT: join(place.folder, `${copy}-${isImported}`) };
    await gdn({ ...files, ...root }, 'restore', copy, '--bundle', 'bundle');
    await using store = isImported ? await openStore() : undefined;
    const env = { ...(store?.env ?? files), ...root };
    if (isImported) await gdn(env, 'store', 'import', 'bundle');
    await place.serveWith({ env }, 'bundle');
    expect(await inputsAtEnd(env)).toEqual(expected);
    await gdn(env, 'stop', '--bundle', 'bundle');
  }
});

/** Makes a database with the tables of a store. */
async function openStore(): Promise<AsyncDisposable & { readonly env: Surroundings }> {
  const database = await makeTestDatabase({ hasTables: false });
  const env = {
    GOONDAN_STORE: database.address,
    GOONDAN_CLUSTER_TOKEN: 'only-the-nodes-of-a-test-know-this-token-0123456789',
  };
  await gdn(env, 'store', 'init');
  return { env, [Symbol.asyncDispose]: () => database.drop() };
}

type Surroundings = Readonly<Record<string, string | undefined>>;

async function gdn(env: Surroundings, ...args: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await place.runWith({ env }, ...args);
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

function send(env: Surroundings, input: string, ...more: string[]): Promise<string> {
  return gdn(env, 'send', '--bundle', 'bundle', '--input', input, ...more);
}

function open(gate: string): void {
  writeFileSync(join(place.folder, `${gate}.open`), '');
}

async function reached(gate: string): Promise<void> {
  await until(() => existsSync(join(place.folder, `${gate}.reached`)), {
    about: `a turn has reached the gate ${gate}`,
  });
}

/** Sends a taken input again, and a last one; returns all inputs in the order of the conversation. */
async function inputsAtEnd(env: Surroundings): Promise<readonly string[]> {
  expect(await send(env, 'now A', '--id', 'a')).toStartWith('Already accepted');
  await send(env, 'last', '--wait');
  const { messages } = JSON.parse(await gdn(env, 'instance', 'export', 'host', 'default', '--bundle', 'bundle')) as {
    readonly messages: readonly Message[];
  };
  const inputs: string[] = [];
  for (const [at, { data }] of messages.entries()) {
    if (data.role !== 'user') continue;
    inputs.push(typeof data.content === 'string' ? data.content : JSON.stringify(data.content));
    const before = messages[at - 1]?.data ?? null;
    expect(JSON.stringify(before), 'An input is between a tool call and its result.').not.toContain('"tool-call"');
  }
  return inputs;
}
