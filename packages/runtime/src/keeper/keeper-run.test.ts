// Tests the runner without a process: with a real channel in memory and a real module on disk.
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Channel } from '../ipc/channel/channel.ts';
import { keeperLanguage } from '../ipc/codec.ts';
import type { FromKeeper } from '../ipc/from-keeper.ts';
import type { ToKeeper } from '../ipc/to-keeper.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { KeeperRun } from './keeper-run.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

const root = temporaryFolder();

let modules = 0;
/** Runs a keeper with this source until it has exited. `hear` may answer each message. */
async function run(
  source: string,
  hear: (message: FromKeeper, drain: (graceMs?: number) => void, parent: Channel<ToKeeper, FromKeeper>) => void = () =>
    undefined,
  clock: Clock = systemClock,
  environment: Record<string, string | undefined> = {},
) {
  const entry = `./keeper-${(modules += 1)}.js`;
  writeFileSync(join(root, entry), source);
  const [parent, child] = connectInMemory(keeperLanguage);
  const exited = Promise.withResolvers<number>();
  const heard: FromKeeper[] = [];
  parent.onMessage((message) => {
    heard.push(message);
    hear(message, (graceMs = 1_000) => void parent.send({ type: 'drain', graceMs }), parent);
  });
  new KeeperRun({ channel: child, clock, environment, exit: exited.resolve }).begin();
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

test('L-02 another environment and working folder reach a keeper that goes on; old and new secrets are masked', async () => {
  const source = `export const keep = async (context) => {
    const timer = setInterval(() => {
      if (context.workdir !== '/else') return;
      clearInterval(timer);
      context.logger.info('moved, canary-4711 and canary-4712');
    }, 1);
    return () => undefined;
  };`;
  const environment = { KEPT: 'base', OLD: 'gone', TOKEN: 'canary-4711' };
  const { heard } = await run(
    source,
    (message, drain, parent) => {
      const changed = { environment: { TOKEN: 'canary-4712' }, unset: ['OLD'], secrets: ['canary-4712'] };
      if (message.type === 'ready') void parent.send({ type: 'surroundings', ...changed, workdir: '/else' });
      if (message.type === 'log') drain();
    },
    systemClock,
    environment,
  );
  expect(environment as object).toEqual({ KEPT: 'base', TOKEN: 'canary-4712' });
  expect(heard.find(({ type }) => type === 'log')).toMatchObject({ line: { message: 'moved, *** and ***' } });
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

const typesOf = (heard: readonly FromKeeper[]): string[] => heard.map(({ type }) => type);

test('L-02 a keeper is not ready before it listens', async () => {
  const source = `export const keep = async ({ logger }) => {
    await new Promise((resolve) => setImmediate(resolve));
    logger.info('listens');
    return () => undefined;
  };`;
  const { heard } = await run(source, (message, drain) => {
    if (message.type === 'ready') drain();
  });
  expect(typesOf(heard)).toEqual(['log', 'ready', 'drained']);
});

test('L-02 a keeper ends at once when the orchestrator has gone, without a clean-up', async () => {
  const source = `export const keep = async ({ logger }) => () => logger.info('cleaned up');`;
  const { exitCode, heard } = await run(source, (message, _, parent) => {
    if (message.type === 'ready') parent.close();
  });
  expect([exitCode, typesOf(heard)]).toEqual([0, ['ready']]);
});

test('L-02 a keeper reports a frame that it cannot read, and ends', async () => {
  const { exitCode, heard } = await run('export const keep = async () => () => undefined;', (message, _, parent) => {
    if (message.type === 'ready') parent['wire'].write(Buffer.from('nonsense\n'));
  });
  expect([exitCode, heard.at(-1)]).toMatchObject([1, { type: 'failed', error: { code: 'E_IPC_FRAME' } }]);
});

test.each([
  ['hangs', `() => new Promise(() => undefined)`, ['ready', 'drained']],
  ['fails', `() => { throw new Error('no canary-4711'); }`, ['ready', 'log', 'drained']],
])('L-02 a clean-up that %s does not keep the process alive', async (_, cleanUp, types) => {
  const source = `export const keep = async () => ${cleanUp};`;
  const { exitCode, heard } = await run(source, (message, drain) => {
    if (message.type === 'ready') drain(1);
  });
  expect([exitCode, typesOf(heard)]).toEqual([0, types]);
  expect(JSON.stringify(heard)).not.toContain('canary');
});

test('L-02 a second start message starts no second connection', async () => {
  const source = `export const keep = async ({ logger }) => {
    logger.info('begins');
    return () => undefined;
  };`;
  let pongs = 0;
  const { heard } = await run(source, (message, drain, parent) => {
    if (message.type === 'ready' && pongs === 0) {
      const folders = { root, entry: `./keeper-${modules}.js`, bundleFolder: root, workdir: root };
      const plan = { agentName: 'a', extension: 'files', config: {}, socket: '', secrets: [], ...folders };
      void parent.send({ type: 'start', plan });
      void parent.send({ type: 'ping', n: 1 });
    }
    if (message.type === 'pong' && pongs++ === 0) setTimeout(drain, 1);
  });
  expect(typesOf(heard)).toEqual(['log', 'ready', 'pong', 'drained']);
});
