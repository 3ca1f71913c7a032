// Tests with real agents: commands for a swarm that `gdn run --detach` started.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { TimelineView, WorkspaceList } from '../studio/contract.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { StudioPlace } from '../testing/studio-place.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]));

const quiet = { stderr: '', exitCode: 0 };
const script = [`- { when: '^slow', say: '${'word '.repeat(2_000)}' }`, `- { say: 'You said: {{input}}' }`].join('\n');
const toHelper = ['--agent', 'helper', '--instance', 'k'];

describe('a running swarm', () => {
  test('send: stored on disk, then {accepted, eventId}; the same id counts once', async () => {
    await start();
    const { stdout, ...rest } = await gdn(
      'send',
      '--agent',
      'helper',
      '--instance',
      'k',
      '--input',
      'Hi',
      '--id',
      'mail-1',
      '--json',
    );
    const sent = { accepted: true, eventId: 'mail-1', agent: 'helper', instanceKey: 'k' };
    expect(JSON.parse(stdout)).toEqual({ ...sent, duplicate: false });
    expect(rest).toEqual(quiet);
    const again = await gdn(
      'send',
      '--agent',
      'helper',
      '--instance',
      'k',
      '--input',
      'Hi',
      '--id',
      'mail-1',
      '--json',
    );
    expect(JSON.parse(again.stdout)).toEqual({ ...sent, duplicate: true });
    expect((await gdn('send', '--input', 'Hi')).stdout).toMatch(/^Accepted by host \(default\): event-/);
    await stop();
  });

  test('send --wait: prints like run', async () => {
    await start();
    expect(await gdn('send', '--input', 'Hi', '--wait')).toEqual({ stdout: 'You said: Hi\n', ...quiet });
    const piped = await place.runProcessWith(
      { stdin: 'Piped\n' },
      'send',
      '--bundle',
      'bundle',
      '--input',
      '-',
      '--wait',
    );
    expect(piped.stdout).toBe('You said: Piped\n');
    const { stdout } = await gdn('send', '--input', 'Hi', '--wait', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      agent: 'host',
      response: 'You said: Hi',
      finishReason: 'text_response',
    });
    await stop();
  });

  test('status: shows the running processes, for programs and for people', async () => {
    const { pid } = await start();
    await gdn('send', '--input', 'Hi', '--wait');
    const { stdout, ...rest } = await gdn('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      running: true,
      pid,
      agents: [{ agent: 'host', instanceKey: 'default', pid: expect.any(Number), status: 'idle' }],
    });
    expect(rest).toEqual(quiet);
    const text = (await gdn('status')).stdout;
    expect(text).toStartWith(`Swarm "default" runs in process ${pid} since `);
    expect(text).toMatch(/\n {2}host \(default\): idle, process \d+\n$/);
    await stop();
  });

  test('cancel: ends the running turn of one conversation, and the waiting command exits with 130', async () => {
    await start();
    expect(await gdn('cancel')).toEqual({ stdout: 'There was no such turn.\n', ...quiet });
    const hosts = place.start('send', '--bundle', 'bundle', '--input', 'slow', '--wait', '--json');
    const helpers = place.start('send', '--bundle', 'bundle', ...toHelper, '--input', 'slow', '--wait', '--json');
    await until(async () => (await statuses()).filter(({ status }) => status === 'working').length === 2);

    expect(JSON.parse((await gdn('cancel', '--instance', 'k', '--json')).stdout)).toEqual({ cancelled: false });
    expect(JSON.parse((await gdn('cancel', '--agent', 'helper', '--json')).stdout)).toEqual({ cancelled: false });
    expect(JSON.parse((await gdn('cancel', ...toHelper, '--json')).stdout)).toEqual({ cancelled: true });
    expect(JSON.parse(await helpers.stdout.text())).toMatchObject({ agent: 'helper', error: { code: 'E_CANCELLED' } });
    expect(await helpers.exited).toBe(130);
    expect(await statuses()).toContainEqual(expect.objectContaining({ agent: 'host', status: 'working' }));

    expect(await gdn('cancel')).toEqual({ stdout: 'Cancelled.\n', ...quiet });
    expect(JSON.parse(await hosts.stdout.text())).toMatchObject({ agent: 'host', error: { code: 'E_CANCELLED' } });
    expect(await hosts.exited).toBe(130);
    await stop();
  });

  test('F-30 a cancelled turn is cancelled, not failed: for the waiting command, in trace, history, log and Studio', async () => {
    await start();
    const asked = place.start('send', '--bundle', 'bundle', '--input', 'slow', '--wait');
    await until(async () => (await statuses()).some(({ status }) => status === 'working'));
    await gdn('cancel');
    expect([await asked.stderr.text(), await asked.exited]).toEqual([expect.stringMatching(/^E_CANCELLED: /), 130]);
    const look = async (command: string, ...args: string[]) => (await gdn(command, ...args)).stdout;
    const [turns, history, log] = await Promise.all([
      look('trace', '--json'),
      look('history', 'host', 'default'),
      look('logs', '--json'),
    ]);
    expect(JSON.parse(turns)).toMatchObject([{ ending: 'cancelled', finishReason: 'error' }]);
    expect(history).toMatch(/^turn-\S+ {2}\S+ {2}cancelled\n/);
    const levels = log.split('\n').filter((line) => line.includes('Turn cancelled: '));
    expect(levels.map((line) => JSON.parse(line).level)).toEqual(['info']);
    expect(log).not.toContain('Turn failed');
    const studio = new StudioPlace({ stateRoot: place.stateRoot });
    await studio.enter();
    const { workspaces } = await studio.read<WorkspaceList>('/api/workspaces');
    const at = `/api/workspaces/${workspaces[0]?.workspaceId}/timeline?agent=host&instanceKey=default`;
    expect((await studio.read<TimelineView>(at)).turns).toMatchObject([{ result: 'cancelled' }]);
    await studio.remove();
    await stop();
  });

  test('cancel --id: ends the turn of that input, even before it begins', async () => {
    await start();
    await gdn('send', ...toHelper, '--input', 'slow', '--id', 'running');
    const queued = place.start('send', '--bundle', 'bundle', ...toHelper, '--input', 'Hi', '--id', 'queued', '--wait');
    await until(async () => (await statuses()).some((each) => each.status === 'working' && each.queued > 1));
    expect(JSON.parse((await gdn('cancel', ...toHelper, '--id', 'other', '--json')).stdout)).toEqual({
      cancelled: false,
    });
    expect(JSON.parse((await gdn('cancel', ...toHelper, '--id', 'queued', '--json')).stdout)).toEqual({
      cancelled: true,
    });
    // The cancelled input ends only when its turn would begin. Until then the other turn continues.
    expect(await statuses()).toMatchObject([{ status: 'working' }]);
    expect(JSON.parse((await gdn('cancel', ...toHelper, '--id', 'running', '--json')).stdout)).toEqual({
      cancelled: true,
    });
    expect(await queued.stderr.text()).toStartWith('E_CANCELLED: ');
    expect(await queued.exited).toBe(130);
    await stop();
  });

  test('Ctrl-C in the waiting command cancels the turn', async () => {
    await start();
    const { screen, exitCode } = await place.runOnTerminal(
      ['send', '--bundle', 'bundle', '--input', 'slow', '--wait'],
      [{ whenSeen: 'word word', keys: '\x03' }],
    );
    expect(screen).toContain('E_CANCELLED: ');
    expect(exitCode).toBe(130);
    await stop();
  });

  test('restart: new processes for the chosen agents, and their conversations continue', async () => {
    await start();
    expect(JSON.parse((await gdn('restart', '--json')).stdout)).toEqual({ restarted: 0 });
    const everyone = [[], ['--agent', 'helper'], toHelper];
    const talkToEveryone = async () => {
      for (const whom of everyone) expect((await gdn('send', ...whom, '--input', 'Hi', '--wait')).exitCode).toBe(0);
      return new Map((await statuses()).map(({ agent, instanceKey, pid }) => [`${agent} ${instanceKey}`, pid]));
    };
    const first = await talkToEveryone();
    expect(JSON.parse((await gdn('restart', ...toHelper, '--json')).stdout)).toEqual({ restarted: 1 });
    const second = await talkToEveryone();
    expect(whoDiffers(first, second)).toEqual(['helper k']);
    expect((await gdn('restart', '--agent', 'helper')).stdout).toBe('2 instances restarted.\n');
    const third = await talkToEveryone();
    expect(whoDiffers(second, third)).toEqual(['helper default', 'helper k']);
    expect(await messageCounts()).toEqual({ 'helper default': 6, 'helper k': 6, 'host default': 6 });
    await stop();
  });

  test('restart --fresh: a new conversation for the chosen agents', async () => {
    await start();
    for (const whom of [[], toHelper]) await gdn('send', ...whom, '--input', 'Hi', '--wait');
    expect((await gdn('restart', ...toHelper, '--fresh')).stdout).toBe('1 instance restarted.\n');
    for (const whom of [[], toHelper]) await gdn('send', ...whom, '--input', 'Anew', '--wait');
    expect(await messageCounts()).toEqual({ 'helper k': 2, 'host default': 4 });
    await stop();
  });

  test('stop: nothing is left, even when the bundle was broken meanwhile', async () => {
    await start();
    await gdn('send', '--input', 'Hi', '--wait');
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ agent: 'toolz: []' }) });
    expect(JSON.parse((await gdn('stop', '--grace', '5', '--json')).stdout)).toEqual({ stopped: true });
    await until(async () => place.processes().length === 0);
  });

  test('an unknown agent: exit 3', async () => {
    await start();
    const { stdout, stderr, exitCode } = await gdn('send', '--agent', 'hots', '--input', 'Hi');
    expect(stderr).toMatch(/^E_AGENT_UNKNOWN: There is no agent "hots"\. Agents: .+\.\nDid you mean `host`\?\n$/);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    await stop();
  });
});

describe('a swarm that does not run', () => {
  test('stop: nothing to stop, exit 3', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const { stderr, exitCode } = await gdn('stop');
    expect(stderr).toBe('E_CONTROL_CLOSED: Swarm "default" is not running.\nThere is nothing to stop.\n');
    expect(exitCode).toBe(3);
  });

  test.each([['send --input Hi'], ['cancel'], ['restart']])('%s: the command to type, exit 3', async (line) => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const [command = '', ...args] = line.split(' ');
    const { stdout, stderr, exitCode } = await gdn(command, ...args);
    expect(stderr).toBe(
      'E_CONTROL_CLOSED: Swarm "default" is not running.\nStart it with `gdn run bundle --detach`, then ask again.\n',
    );
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
  });

  test('status: reports that it does not run, exit 0', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const { stdout, ...rest } = await gdn('status', '--json');
    expect(JSON.parse(stdout)).toEqual({ running: false, agents: [] });
    expect(rest).toEqual(quiet);
    expect((await gdn('status')).stdout).toBe(
      'Swarm "default" is not running. Start it with `gdn run bundle --detach`.\n',
    );
  });
});

function gdn(command: string, ...args: string[]) {
  return place.run(command, '--bundle', 'bundle', ...args);
}

async function start(): Promise<{ pid: number }> {
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({ script, options: 'tokensPerSecond: 50', agents: ['helper'] }),
  });
  const { stdout, stderr } = await place.run('run', 'bundle', '--trust', '--detach', '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

async function stop(): Promise<void> {
  expect(await gdn('stop')).toEqual({ stdout: 'Stopped.\n', ...quiet });
}

async function statuses(): Promise<Listed[]> {
  return JSON.parse((await gdn('status', '--json')).stdout).agents;
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

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('It did not happen.');
    await Bun.sleep(10);
  }
}
