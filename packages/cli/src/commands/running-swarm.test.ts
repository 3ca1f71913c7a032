// Tests with real agents: commands for a running swarm.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { TimelineView, WorkspaceList } from '../studio/contract.ts';
import { type Ended, GdnPlace } from '../testing/gdn-place.ts';
import { refusal } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { StudioPlace } from '../testing/studio-place.ts';
import { until } from '../../../../test/until.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

// Each group of tests has a place of its own, and most groups share one swarm, because starts take most of the
// processor time.
const place = new GdnPlace();
const leave = async () => expect(await place.remove()).toEqual([]);

const quiet = { stderr: '', exitCode: 0 };
const script = [`- { when: '^slow', say: '${'word '.repeat(2_000)}' }`, `- { say: 'You said: {{input}}' }`].join('\n');
const host = (key: string) => ['--agent', 'host', '--instance', key];
const helper = (key: string) => ['--agent', 'helper', '--instance', key];

describe('a running swarm', () => {
  // Every test has conversations of its own.
  const { pid } = process;
  beforeAll(async () => {
    await writeBundle();
    await place.serve('bundle');
  });
  afterAll(async () => {
    expect(await gdn('stop')).toEqual({ stdout: 'Stopped.\n', ...quiet });
    await leave();
  });

  test('send: stored on disk, then {accepted, eventId}; the same id counts once', async () => {
    const send = () => gdn('send', ...helper('sent'), '--input', 'Hi', '--id', 'mail-1', '--json');
    const { stdout, ...rest } = await send();
    const sent = { accepted: true, eventId: 'mail-1', agent: 'helper', instanceKey: 'sent' };
    const ids = { turnId: 'turn-mail-1', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) };
    expect(JSON.parse(stdout)).toEqual({ ...sent, ...ids, duplicate: false });
    expect(rest).toEqual(quiet);
    expect(JSON.parse((await send()).stdout)).toEqual({ ...sent, ...ids, duplicate: true });
    const alone = await gdn('send', '--instance', 'sent', '--input', 'Hi');
    expect(alone.stdout).toMatch(/^Accepted by host \(sent\): turn [0-9a-f]{8}/);
  });

  test('send --wait: prints like run', async () => {
    expect(await gdn('send', ...host('waited'), '--input', 'Hi', '--wait')).toEqual({
      stdout: 'You said: Hi\n',
      ...quiet,
    });
    const { stdout } = await gdn('send', ...host('waited'), '--input', 'Hi', '--wait', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      agent: 'host',
      response: 'You said: Hi',
      finishReason: 'text_response',
    });
  });

  test('status: shows the running processes, for programs and for people', async () => {
    await gdn('send', ...host('shown'), '--input', 'Hi', '--wait');
    const { stdout, ...rest } = await gdn('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ running: true, pid });
    expect(JSON.parse(stdout).agents).toContainEqual(
      expect.objectContaining({ agent: 'host', instanceKey: 'shown', pid: expect.any(Number), status: 'idle' }),
    );
    expect(rest).toEqual(quiet);
    const text = (await gdn('status')).stdout;
    expect(text).toStartWith(`Swarm "default" runs in process ${pid} since `);
    expect(text).toMatch(/\n {2}host \(shown\): idle, process \d+\n/);
  });

  test('status and instance list: the key of a conversation cannot start a new line', async () => {
    const key = 'k\n  forged (k): idle\nforged k: idle, 9 messages';
    expect((await gdn('send', ...host(key), '--input', 'Hi', '--wait')).exitCode).toBe(0);
    for (const words of [['status'], ['instance', 'list']]) {
      const { stdout } = await place.run(...words, '--bundle', 'bundle');
      expect(stdout).toContain('k␊  forged (k): idle␊forged k: idle, 9 messages');
      expect(stdout).not.toMatch(/^ *forged/m);
    }
  });

  test('cancel: ends the running turn of one conversation, and the waiting command exits with 130', async () => {
    expect(await gdn('cancel')).toEqual({ stdout: 'No such turn is running or waiting.\n', ...quiet });
    const askSlowly = (...whom: string[]) => gdn('send', ...whom, '--input', 'slow', '--wait', '--json');
    const [hosts, helpers] = [askSlowly(), askSlowly(...helper('k'))];
    const working = async () => (await statuses()).filter(({ status }) => status === 'working');
    await until(async () => (await working()).length === 2);

    const cancelJson = async (...whom: string[]) => JSON.parse((await gdn('cancel', ...whom, '--json')).stdout);
    expect(await cancelJson('--instance', 'k')).toEqual({ cancelled: false });
    expect(await cancelJson('--agent', 'helper')).toEqual({ cancelled: false });
    expect(await cancelJson(...helper('k'))).toEqual({ cancelled: true });
    expectCancelled('helper', await helpers);
    expect(await working()).toMatchObject([{ agent: 'host' }]);

    expect(await gdn('cancel')).toEqual({ stdout: 'Cancelled.\n', ...quiet });
    expectCancelled('host', await hosts);
  });

  test('a cancelled turn is cancelled, not failed: for the waiting command, in trace, history, log and Studio', async () => {
    const asked = gdn('send', ...host('f30'), '--input', 'slow', '--wait');
    await until(async () => (await statuses('f30')).some(({ status }) => status === 'working'));
    await gdn('cancel', ...host('f30'));
    expect(await asked).toMatchObject({ stderr: expect.stringMatching(/^E_CANCELLED: /), exitCode: 130 });
    const look = async (command: string, ...args: string[]) => (await gdn(command, ...args)).stdout;
    const [turns, history, log] = await Promise.all([
      look('trace', '--instance', 'f30', '--json'),
      look('history', 'host', 'f30'),
      look('logs', '--instance', 'f30', '--json'),
    ]);
    expect(JSON.parse(turns)).toMatchObject([{ ending: 'cancelled', finishReason: 'error' }]);
    expect(history).toMatch(/^[0-9a-f]{8}\S* {2}\S+ {2}cancelled\n/);
    const levels = log.split('\n').filter((line) => line.includes('Turn cancelled: '));
    expect(levels.map((line) => JSON.parse(line).level)).toEqual(['info']);
    expect(log).not.toContain('Turn failed');
    const studio = new StudioPlace({ stateRoot: place.stateRoot });
    await studio.enter();
    const { workspaces } = await studio.read<WorkspaceList>('/api/workspaces');
    const at = `/api/workspaces/${workspaces[0]?.workspaceId}/timeline?agent=host&instanceKey=f30`;
    expect((await studio.read<TimelineView>(at)).turns).toMatchObject([{ result: 'cancelled' }]);
    await studio.remove();
  });

  test('cancel --id: ends the turn of that input, even before it begins', async () => {
    const whom = helper('by-id');
    await gdn('send', ...whom, '--input', 'slow', '--id', 'running');
    const queued = gdn('send', ...whom, '--input', 'Hi', '--id', 'queued', '--wait');
    await until(async () => (await statuses('by-id')).some((each) => each.status === 'working' && each.queued > 1));
    const cancelled = async (id: string) => JSON.parse((await gdn('cancel', ...whom, '--id', id, '--json')).stdout);
    expect(await cancelled('other')).toEqual({ cancelled: false });
    expect(await cancelled('queued')).toEqual({ cancelled: true });
    // The cancelled input ends only when its turn would begin. Until then the other turn continues.
    expect(await statuses('by-id')).toMatchObject([{ status: 'working' }]);
    // Without an agent and a key, the id is searched in all conversations.
    expect(await gdn('cancel', '--id', 'running')).toEqual({ stdout: 'Cancelled.\n', ...quiet });
    expect(await queued).toMatchObject({ stderr: expect.stringMatching(/^E_CANCELLED: /), exitCode: 130 });
  });

  test.each([
    [['--id', '1b9eb30'], 'No turn "1b9eb30" is running or waiting. A short id has at least 8 characters.\n'],
    [['--id', '1b9eb307'], 'No turn "1b9eb307" is running or waiting.\n'],
    [['--instance', 'nope'], 'No such turn is running or waiting. There is no conversation "nope".\n'],
  ])('cancel %p says why nothing is cancelled', async (args, stdout) => {
    expect(await gdn('cancel', ...args)).toEqual({ stdout, ...quiet });
  });

  test('Ctrl-C in the waiting command cancels the turn', async () => {
    const { screen, exitCode } = await place.runOnTerminal(
      ['send', '--bundle', 'bundle', ...host('interrupted'), '--input', 'slow', '--wait'],
      [{ whenSeen: 'word word', keys: '\x03' }],
    );
    expect(screen).toContain('E_CANCELLED: ');
    expect(exitCode).toBe(130);
  });

  test('an unknown agent: exit 3', async () => {
    expect(await gdn('send', '--agent', 'hots', '--input', 'Hi')).toEqual(
      refusal(3, /^E_AGENT_UNKNOWN: There is no agent "hots"\. Agents: .+\.\nDid you mean `host`\?\n$/),
    );
  });
});

describe('a running swarm without conversations', () => {
  // This one has a process of its own.
  beforeAll(async () => {
    await writeBundle();
    expect(await place.run('run', 'bundle', '--trust', '--detach')).toMatchObject({ exitCode: 0 });
  });
  afterAll(leave);

  test('restart: new processes for the chosen agents, and their conversations continue; stop: nothing is left, even when the bundle was broken meanwhile', async () => {
    expect(JSON.parse((await gdn('restart', '--json')).stdout)).toEqual({ restarted: 0 });
    expect(await gdn('cancel')).toEqual({ stdout: 'No such turn is running or waiting.\n', ...quiet });
    const everyone = [[], ['--agent', 'helper'], helper('k')];
    const talkToEveryone = async () => {
      for (const whom of everyone) expect((await gdn('send', ...whom, '--input', 'Hi', '--wait')).exitCode).toBe(0);
      return new Map((await statuses()).map(({ agent, instanceKey, pid }) => [`${agent} ${instanceKey}`, pid]));
    };
    const first = await talkToEveryone();
    const idle = { pid: expect.any(Number), status: 'idle', queued: 0, crashes: 0 };
    expect(await statuses()).toEqual([
      { agent: 'host', instanceKey: 'default', ...idle },
      { agent: 'helper', instanceKey: 'default', ...idle },
      { agent: 'helper', instanceKey: 'k', ...idle },
    ]);
    expect(JSON.parse((await gdn('restart', ...helper('k'), '--json')).stdout)).toEqual({ restarted: 1 });
    const second = await talkToEveryone();
    expect(whoDiffers(first, second)).toEqual(['helper k']);
    expect((await gdn('restart', '--agent', 'helper')).stdout).toBe('2 instances restarted.\n');
    const third = await talkToEveryone();
    expect(whoDiffers(second, third)).toEqual(['helper default', 'helper k']);
    expect(await messageCounts()).toEqual({ 'helper default': 6, 'helper k': 6, 'host default': 6 });

    await place.write('bundle', { 'goondan.yaml': sampleBundle({ agent: 'toolz: []' }) });
    expect(JSON.parse((await gdn('stop', '--grace', '5', '--json')).stdout)).toEqual({ stopped: true });
    await until(async () => place.processes().length === 0);
  });
});

function expectCancelled(agent: string, { stdout, exitCode }: Ended): void {
  expect(JSON.parse(stdout)).toMatchObject({ agent, error: { code: 'E_CANCELLED' } });
  expect(exitCode).toBe(130);
}

function gdn(command: string, ...args: string[]) {
  return place.run(command, '--bundle', 'bundle', ...args);
}

async function writeBundle(): Promise<void> {
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({ script, options: 'tokensPerSecond: 50', agents: ['helper'] }),
  });
}

/** Lists the conversations that have a process: all of them, or those with this key. */
async function statuses(key?: string): Promise<Listed[]> {
  const { agents }: { agents: Listed[] } = JSON.parse((await gdn('status', '--json')).stdout);
  return agents.filter(({ instanceKey }) => key === undefined || instanceKey === key);
}

interface Listed {
  readonly agent: string;
  readonly instanceKey: string;
  readonly status: string;
  readonly pid?: number;
  readonly queued: number;
}

function whoDiffers<Value>(one: ReadonlyMap<string, Value>, other: ReadonlyMap<string, Value>): string[] {
  return [...other].flatMap(([who, value]) => (one.get(who) === value ? [] : [who])).toSorted();
}

async function messageCounts(): Promise<Record<string, number>> {
  const { stdout } = await place.run('instance', 'list', '--bundle', 'bundle', '--json');
  const listed: { agent: string; instanceKey: string; messages: number }[] = JSON.parse(stdout);
  return Object.fromEntries(listed.map(({ agent, instanceKey, messages }) => [`${agent} ${instanceKey}`, messages]));
}
