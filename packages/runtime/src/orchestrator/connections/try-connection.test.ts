import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FromConnector } from '../../ipc/from-connector.ts';
import type { ToConnector } from '../../ipc/to-connector.ts';
import { fakeSpawn } from '../../testing/fake-spawn.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { swarmSettings } from '../plan/swarm-settings.ts';
import { tryConnection } from './try-connection.ts';

const folder = mkdtempSync(join(tmpdir(), 'try-connection-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plan = { connection: 'mail', connector: 'web', root: '/', entry: 'web.ts', config: {}, secrets: {}, rules: [] };

function start() {
  const fake = fakeSpawn<ToConnector, FromConnector>();
  const clock = manualClock();
  const trial = {
    spawn: fake.spawn,
    clock,
    folder,
    entryAgent: 'a',
    settings: swarmSettings({ policy: { startTimeoutMs: 900 } }),
    signal: new AbortController().signal,
  };
  const told: ToConnector[] = [];
  const end = tryConnection(plan, { ...trial, onOutput: () => undefined, onLog: () => undefined }).then(
    () => 'loaded',
    (error: unknown) => error,
  );
  const [child] = fake.children;
  child?.channel.onMessage((message) => void told.push(message));
  return { child, clock, told, end };
}

test('a connector loaded on trial is ended, and leaves nothing', async () => {
  const { child, clock, told, end } = start();
  await clock.advance(0);
  expect(told).toMatchObject([{ type: 'start', plan: { connection: 'mail', isTrial: true } }]);
  void child?.channel.send({ type: 'ready' });
  expect(await end).toBe('loaded');
  expect(child?.kills).toEqual([0]);
  expect(clock.pending).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test('a connector that is not loaded in time is ended, and leaves nothing', async () => {
  const { child, clock, end } = start();
  await clock.advance(900);
  expect(await end).toMatchObject({ code: 'E_PROCESS_START', message: expect.stringContaining('within 900 ms') });
  expect(child?.kills).toEqual([0]);
  expect(readdirSync(folder)).toEqual([]);
});
