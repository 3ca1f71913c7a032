// Tests with real processes: the swarm of the demo, used by a program.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listTurns } from '@goondan/runtime/history';
import { textOf } from '@goondan/types';
import { openTerminal } from '../terminal.ts';
import { questions } from '../testing/demo-questions.ts';
import { startDemoSwarm } from './start-demo-swarm.ts';
import { until } from '../../../../test/until.ts';

setDefaultTimeout(60_000);

const silent = { write: () => undefined };
const terminal = openTerminal({ stdout: silent, stderr: silent, env: {} });
const { signal } = new AbortController();

const { TMPDIR, GOONDAN_TRACE } = process.env;
let temporary: string;
beforeEach(() => {
  temporary = realpathSync(mkdtempSync(join(TMPDIR ?? tmpdir(), 'gdn-')));
  process.env['TMPDIR'] = temporary;
});
afterEach(() => {
  rmSync(temporary, { recursive: true, force: true });
  restore('TMPDIR', TMPDIR);
  restore('GOONDAN_TRACE', GOONDAN_TRACE);
});

test('two of them are independent; each can be asked and inspected while it runs, and is gone after its removal', async () => {
  const swarms = await Promise.all([startDemoSwarm(terminal, signal), startDemoSwarm(terminal, signal)]);
  try {
    const [one, other] = swarms;
    expect(one.stateRoot).not.toBe(other.stateRoot);
    expect(statSync(join(one.stateRoot, '..')).mode & 0o777).toBe(0o700);
    const { result } = await one.control.ask({ input: 'What is the weather in Nairobi?' });
    expect(textOf(result.responseMessage)).toBe('Nairobi, tomorrow: 25 °C.');
    // Waits, because traces are written shortly after a turn.
    await until(async () => (await listTurns(one)).length >= 2);
    expect((await listTurns(one)).map(({ agentName }) => agentName).toSorted()).toEqual(['concierge', 'forecaster']);
    expect(await listTurns(other)).toEqual([]);

    for (const [input, answer] of questions) {
      const { result: answered } = await one.control.ask({ input });
      expect(textOf(answered.responseMessage)).toBe(answer);
    }

    const pids = (await one.control.status()).instances.flatMap(({ pid }) => pid ?? []);
    expect(pids).toHaveLength(2);
    await one.remove();
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect(readdirSync(temporary)).toHaveLength(1);
  } finally {
    await Promise.all(swarms.map((swarm) => swarm.remove()));
  }
  expect(readdirSync(temporary)).toEqual([]);
});

test('a failed start leaves nothing', async () => {
  process.env['GOONDAN_TRACE'] = 'sideways';
  const failure = await startDemoSwarm(terminal, signal).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'E_SWARM_PLAN' });
  expect(readdirSync(temporary)).toEqual([]);
});

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
