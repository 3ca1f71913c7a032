// Tests messages that are too long for a frame, between the orchestrator and a shared process. They go by file.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import fs, { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { textOf } from '@goondan/types';
import { postgresSource } from '../../packages/postgres/src/cluster-source.ts';
import { openDatabase } from '../../packages/postgres/src/driver/database.ts';
import { addToken } from '../../packages/postgres/src/nodes/tokens.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { describe as describeWithPostgres } from '../../packages/postgres/src/testing/with-postgres.ts';
import type { Swarm } from '../../packages/runtime/src/control/swarm.ts';
import { startOrchestrator } from '../../packages/runtime/src/orchestrator/start-orchestrator.ts';
import type { LogLine } from '../../packages/runtime/src/ports/log-line.ts';
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';

setDefaultTimeout(30_000);

const long = 'x'.repeat(2_000_000);
const script = [{ when: '^make', call: { tool: 'long__make', args: {} } }, { say: 'done' }];
const make = { name: 'make', description: 'Makes a long text.', parameters: { type: 'object', properties: {} } };
const resources: Readonly<Record<string, object>> = {
  'Model/demo': { provider: 'scripted', model: 'demo', options: { script } },
  'Tool/long': { entry: './long.ts', exports: [make] },
  'Extension/long': { entry: './long.ts' },
  'Agent/clerk': {
    isolation: 'agent',
    modelConfig: { modelRef: 'Model/demo' },
    prompt: { system: 'Work.' },
    tools: ['Tool/long'],
    extensions: ['Extension/long'],
  },
  'Swarm/office': { entryAgent: 'Agent/clerk', agents: ['Agent/clerk'], workspace: 'office', policy: { spares: 0 } },
};

const code = `import { createAssistantMessage } from '@goondan/types';
const long = 'x'.repeat(${long.length});
export const handlers = { make: () => long };
export function register({ pipeline }) {
  pipeline.register('turn', async (ctx) => {
    const result = await ctx.next();
    return ctx.inputEvent.input === 'answer' ? { ...result, responseMessage: createAssistantMessage(long) } : result;
  });
}
`;

const lines: LogLine[] = [];
const ends = new AsyncDisposableStack();
afterAll(() => ends.disposeAsync());

async function start(cluster?: NonNullable<Parameters<typeof startOrchestrator>[0]['cluster']>): Promise<Swarm> {
  const documents = Object.entries(resources).map(([reference, spec]) => {
    const [kind, name] = reference.split('/');
    return JSON.stringify({ apiVersion: 'goondan.ai/v1', kind, metadata: { name }, spec });
  });
  const bundle = ends.use(temporaryBundle({ 'goondan.yaml': documents.join('\n---\n'), 'long.ts': code }));
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-long-'));
  ends.defer(() => rmSync(stateRoot, { recursive: true, force: true }));
  const options = { environment: {}, workdir: bundle.folder };
  const { plan } = resolveSwarm(await loadBundle(bundle.folder, options), options);
  const onLog = (line: LogLine) => void lines.push(line);
  const swarm = await startOrchestrator({ plan, stateRoot, workspaceId: 'node', onLog, ...(cluster && { cluster }) });
  ends.defer(() => swarm.stop({ graceMs: 0 }));
  return swarm;
}

async function startOnPostgres(): Promise<Swarm> {
  const made = await makeTestDatabase();
  ends.defer(() => made.drop());
  const { address } = made;
  const database = openDatabase(address);
  const token = await addToken(database, { name: 'node', scope: 'operate' });
  await database.close();
  return start({ source: postgresSource({ address, swarm: 'office' }), node: 'one', token });
}

describe('a shared process on files', () => testLongMessages(() => start()));
describeWithPostgres('a shared process on PostgreSQL', () => testLongMessages(startOnPostgres));

function testLongMessages(open: () => Promise<Swarm>): void {
  let swarm: Swarm;
  beforeAll(async () => {
    swarm = await open();
  });
  const ask = async (instanceKey: string, input: string) =>
    textOf((await swarm.ask({ instanceKey, input })).result.responseMessage);

  // The next process reads the conversation from its store.
  test.each([
    ['an input', `read ${long}`, 'done'],
    ['a tool result', 'make', 'done'],
    ['an answer', 'answer', long],
  ])('takes %s of 2 MB, and opens its conversation again', async (what, input, answer) => {
    expect((await ask(what, input)) === answer).toBe(true);
    await swarm.restart({ agent: 'clerk', instanceKey: what });
    expect(await ask(what, 'again')).toBe('done');
  });
}

test('R-03 a frame that a shared process cannot read ends it, and the turn is tried again', async () => {
  const swarm = await start();
  const ask = async (instanceKey: string, input: string) =>
    textOf((await swarm.ask({ instanceKey, input })).result.responseMessage);
  expect(await ask('neighbour', 'hello')).toBe('done');
  const before = new Set((await swarm.status()).instances.map(({ pid }) => pid));
  const write = fs.writeFileSync;
  // Damages the next frame that goes by file.
  fs.writeFileSync = (...[path, , options]: Parameters<typeof write>) => {
    fs.writeFileSync = write;
    write(path, 'damaged', options);
  };
  lines.splice(0);
  expect(await ask('hit', `read ${long}`)).toBe('done');
  expect(fs.writeFileSync).toBe(write);
  expect(await ask('neighbour', 'hello')).toBe('done');
  expect(lines.filter(({ event }) => event === 'frame.refused')).toMatchObject([{ level: 'error', agent: 'clerk' }]);
  expect((await swarm.status()).instances.filter(({ pid }) => before.has(pid))).toEqual([]);
  expect(await swarm.deadLetters()).toEqual([]);
});
