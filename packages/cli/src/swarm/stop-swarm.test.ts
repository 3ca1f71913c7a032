import { expect, test } from 'bun:test';
import type { InstanceStatus, SwarmStatus } from '@goondan/runtime';
import { stopSwarm } from './stop-swarm.ts';

const working = (instanceKey: string): InstanceStatus => ({
  agent: 'host',
  instanceKey,
  status: 'working',
  queued: 1,
  crashes: 0,
});
const statusOf = (instances: readonly InstanceStatus[]): SwarmStatus => ({
  swarm: 'default',
  workspaceId: 'w',
  pid: 1,
  startedAt: '',
  version: '',
  entryAgent: 'host',
  agents: ['host'],
  instances,
  connections: [],
});

/** Stops a swarm that needs `takesMs`, and returns the text on standard error. */
async function stop(instances: readonly InstanceStatus[], { takesMs = 100, showsProgress = true } = {}) {
  let printed = '';
  const swarm = { status: () => Promise.resolve(statusOf(instances)), stop: () => Bun.sleep(takesMs) };
  const terminal = { showsProgress, printError: (text: string) => void (printed += text) };
  await stopSwarm({ swarm, stopNow: 'gdn stop --grace 0', noticeMs: 10 }, terminal);
  await Bun.sleep(20);
  return printed;
}

test('tells a person how many turns run, and how to stop now', async () => {
  const rest = 'To stop now, type `gdn stop --grace 0` in another terminal.\n';
  expect(await stop([working('a')])).toBe(`Waiting for 1 running turn. ${rest}`);
  expect(await stop([working('a'), working('b'), { ...working('c'), status: 'idle' }])).toBe(
    `Waiting for 2 running turns. ${rest}`,
  );
});

test('is silent after a quick stop, without running turns, and in a pipe', async () => {
  expect(await stop([working('a')], { takesMs: 0 })).toBe('');
  expect(await stop([])).toBe('');
  expect(await stop([working('a')], { showsProgress: false })).toBe('');
});
