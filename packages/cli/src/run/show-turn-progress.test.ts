import { expect, test } from 'bun:test';
import type { Swarm, SwarmNotice } from '@goondan/runtime';
import { openTerminal } from '../terminal.ts';
import { until } from '../../../../test/until.ts';
import { showTurnProgress } from './show-turn-progress.ts';

const own = { agent: 'host', instanceKey: 'default', eventId: 'e', turnId: 'turn-e', traceId: 't' };
const called = (traceId: string, agent = 'clerk'): SwarmNotice => ({
  type: 'runtime.event',
  at: { agent, instanceKey: 'default' },
  name: 'turn.started',
  payload: { traceId, spanId: 'a', turnId: 'turn-a' },
});

async function open(isTTY: boolean, json = false) {
  const given = { screen: '', isPaused: false, brokenLines: 0, time: 0, others: (_: SwarmNotice) => undefined as void };
  const stderr = { write: (text: string) => (given.screen += text), isTTY, columns: 60 };
  const terminal = openTerminal({ stdout: { write: () => undefined, isTTY }, stderr, env: { NO_COLOR: '1' } });
  const watch = async (_filter: unknown, listener: (notice: SwarmNotice) => void) => {
    given.others = listener;
    return { end: () => undefined, ended: Promise.resolve() };
  };
  const abort = new AbortController();
  // The cast is needed because the stand-in is asked for one type of notices only.
  const shown = await showTurnProgress({ watch: watch as Swarm['watch'] }, terminal, {
    isPaused: () => given.isPaused,
    ...(!json && { beforeLine: () => (given.brokenLines += 1) }),
    signal: abort.signal,
    now: () => given.time,
    times: { patience: 1_000, silence: 10_000, tick: 1 },
  });
  shown.accepted({ ...own, accepted: true, duplicate: false });
  return { given, shown, abort };
}

test('at a terminal it shows what runs after a second, hides during a question, and is cleared at the end', async () => {
  const { given, shown, abort } = await open(true);
  await Bun.sleep(5);
  expect(given.screen).toBe('');
  given.time = 1_000;
  await until(() => given.screen.endsWith('1 s · host · waits to start'));
  given.others(called('of another turn'));
  given.others(called('t', 'host'));
  given.time = 2_000;
  await until(() => given.screen.endsWith('2 s · host · waits to start'));
  given.others(called('t'));
  await until(() => given.screen.endsWith('0 s · clerk · works'));
  expect(given.brokenLines).toBeGreaterThan(0);
  given.isPaused = true;
  await until(() => given.screen.endsWith('\r'));
  given.isPaused = false;
  abort.abort();
  await until(() => given.screen.endsWith('is being cancelled · 0 s · clerk · works'));
  shown.end();
  expect(given.screen).toEndWith('\r');
});

test.each([false, true])('while the model writes, the line hides, except with --json: %p', async (json) => {
  const { given, shown } = await open(true, json);
  const step = { spanId: 's', turnId: 'turn-e', stepId: 's1' };
  shown.hear({ type: 'runtime.event', at: own, name: 'step.started', payload: step });
  given.time = 1_000;
  await until(() => given.screen.endsWith('1 s · host · model call'));
  const delta = { type: 'text', text: 'Hi', turnId: 'turn-e', stepId: 's1', stepIndex: 0 } as const;
  shown.hear({ type: 'delta', at: own, eventId: 'e', delta });
  given.time = 2_000;
  await until(() => given.screen.endsWith(json ? '2 s · host · model call' : '\r'));
  shown.end();
});

test('elsewhere it prints a line after ten seconds, and the next ones ever more rarely', async () => {
  const { given, shown } = await open(false);
  const lines = () => given.screen.split('\n').length - 1;
  const counts = { 9_999: 0, 10_000: 1, 19_999: 1, 20_000: 2, 39_999: 2, 40_000: 3 };
  for (const [time, count] of Object.entries(counts)) {
    given.time = Number(time);
    await Bun.sleep(5);
    await until(() => lines() === count);
  }
  shown.end();
  expect(given.screen).toStartWith('Still running: 10 s · host · waits to start\nStill running: 20 s');
});
