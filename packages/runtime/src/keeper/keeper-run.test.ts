// Tests the runner without a process: with a real channel in memory and a real module on disk.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keeperLanguage } from '../ipc/codec.ts';
import type { FromKeeper } from '../ipc/from-keeper.ts';
import { systemClock } from '../ports/clock.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { KeeperRun } from './keeper-run.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'run-keeper-'));
});
afterAll(() => rmSync(root, { recursive: true }));

let modules = 0;
/** Runs a keeper with this source until it has exited. `hear` may answer each message. */
async function run(source: string, hear: (message: FromKeeper, drain: () => void) => void = () => undefined) {
  const entry = `./keeper-${(modules += 1)}.js`;
  writeFileSync(join(root, entry), source);
  const [parent, child] = connectInMemory(keeperLanguage);
  const exited = Promise.withResolvers<number>();
  const heard: FromKeeper[] = [];
  parent.onMessage((message) => {
    heard.push(message);
    hear(message, () => void parent.send({ type: 'drain', graceMs: 1_000 }));
  });
  new KeeperRun({ channel: child, clock: systemClock, exit: exited.resolve }).begin();
  const socket = join(root, 'k.sock');
  const folders = { root, entry, bundleFolder: root, workdir: root };
  const plan = {
    agentName: 'a',
    extension: 'files',
    config: { transport: 1 },
    socket,
    secrets: ['canary-4711'],
    ...folders,
  };
  void parent.send({ type: 'start', plan });
  const exitCode = await exited.promise;
  // The last messages have arrived when the channel is closed on this side.
  await new Promise<void>((resolve) => parent.onClose(resolve));
  return { exitCode, heard };
}

test('L-02 a keeper gets its name, config and socket; it is ready when it listens, and is cleaned up when it is drained', async () => {
  const source = `export const keep = async ({ name, config, socket, logger, report }) => {
    logger.info(JSON.stringify({ name, config, isSocket: socket.endsWith('k.sock') }));
    report({ state: 'connected', tools: ['look'] });
    return () => logger.info('cleaned up');
  };`;
  const { exitCode, heard } = await run(source, (message, drain) => {
    if (message.type === 'ready') drain();
  });
  expect(exitCode).toBe(0);
  expect(heard.map(({ type }) => type)).toEqual(['log', 'status', 'ready', 'log', 'drained']);
  const lines = heard.flatMap((message) => (message.type === 'log' ? [message.line.message] : []));
  expect(lines).toEqual(['{"name":"files","config":{"transport":1},"isSocket":true}', 'cleaned up']);
});

test('L-02 secrets of the agent are masked in lines, statuses and failures of a keeper', async () => {
  const source = `export const keep = async ({ logger, report }) => {
    logger.warn('token canary-4711');
    report({ state: 'failed', problem: 'bad canary-4711', lines: ['said canary-4711'] });
    throw new Error('no canary-4711');
  };`;
  const { exitCode, heard } = await run(source);
  expect(exitCode).toBe(1);
  expect(heard.map(({ type }) => type)).toEqual(['log', 'status', 'failed']);
  expect(JSON.stringify(heard)).not.toContain('canary');
  expect(heard.at(-1)).toMatchObject({ error: { message: 'The keeper of Extension/files failed: no ***' } });
});

test.each([
  ['export const other = 1;', 'it exports no function named keep'],
  ['throw new Error("broken module");', 'broken module'],
])('a module that is no keeper: E_EXT_LOAD, %#', async (source, problem) => {
  const { exitCode, heard } = await run(source);
  expect(exitCode).toBe(1);
  expect(heard).toMatchObject([
    { type: 'failed', error: { code: 'E_EXT_LOAD', message: expect.stringContaining(problem) } },
  ]);
});
