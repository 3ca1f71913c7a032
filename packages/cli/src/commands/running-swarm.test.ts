// Real processes: what can be asked of a swarm that `gdn run --detach` has left running.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

// Several processes one after the other, on a machine that may be busy.
setDefaultTimeout(60_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]));

const quiet = { stderr: '', exitCode: 0 };
const script = [`- { when: '^slow', say: '${'word '.repeat(2_000)}' }`, `- { say: 'You said: {{input}}' }`].join('\n');

describe('a swarm that runs', () => {
  test('send: on disk, then {accepted, eventId}; the same id again counts once', async () => {
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

  test('send --wait: as run', async () => {
    await start();
    expect(await gdn('send', '--input', 'Hi', '--wait')).toEqual({ stdout: 'You said: Hi\n', ...quiet });
    const { stdout } = await gdn('send', '--input', 'Hi', '--wait', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      agent: 'host',
      response: 'You said: Hi',
      finishReason: 'text_response',
    });
    await stop();
  });

  test('status: who runs, for programs and for people', async () => {
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

  test('cancel: the running turn ends as cancelled, exit 130 for who waits', async () => {
    await start();
    expect(JSON.parse((await gdn('cancel', '--json')).stdout)).toEqual({ cancelled: false });
    const waiting = place.start('send', '--bundle', 'bundle', '--input', 'slow', '--wait', '--json');
    await until(async () => JSON.parse((await gdn('status', '--json')).stdout).agents[0]?.status === 'working');
    expect(JSON.parse((await gdn('cancel', '--json')).stdout)).toEqual({ cancelled: true });
    expect(JSON.parse(await waiting.stdout.text())).toMatchObject({ error: { code: 'E_CANCELLED' } });
    expect(await waiting.exited).toBe(130);
    await stop();
  });

  test('Ctrl-C of who waits cancels the turn', async () => {
    await start();
    const { screen, exitCode } = await place.runOnTerminal(
      ['send', '--bundle', 'bundle', '--input', 'slow', '--wait'],
      [{ whenSeen: 'word word', keys: '\x03' }],
    );
    expect(screen).toContain('E_CANCELLED: ');
    expect(exitCode).toBe(130);
    await stop();
  });

  test('restart: another process; with --fresh another conversation', async () => {
    await start();
    await gdn('send', '--input', 'Hi', '--wait');
    const pidOf = async () => JSON.parse((await gdn('status', '--json')).stdout).agents[0]?.pid;
    const before = await pidOf();
    expect(JSON.parse((await gdn('restart', '--agent', 'host', '--json')).stdout)).toEqual({ restarted: 1 });
    await gdn('send', '--input', 'Hi', '--wait');
    expect(await pidOf()).not.toBe(before);
    const base = join(
      place.stateRoot,
      [...new Bun.Glob('workspaces/*/instances/host*/messages/base.jsonl').scanSync(place.stateRoot)][0] ?? '',
    );
    expect(await Bun.file(base).text()).toContain('You said: Hi');
    expect((await gdn('restart', '--agent', 'host', '--fresh')).stdout).toBe('1 instance restarted.\n');
    const { stdout } = await gdn('send', '--input', 'Anew', '--wait', '--json');
    expect(JSON.parse(stdout).usage.inputTokens).toBeLessThan(4);
    await stop();
  });

  test('stop: nothing is left, and a bundle that was broken meanwhile is no obstacle', async () => {
    await start();
    await gdn('send', '--input', 'Hi', '--wait');
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ agent: 'toolz: []' }) });
    expect(JSON.parse((await gdn('stop', '--grace', '5', '--json')).stdout)).toEqual({ stopped: true });
    expect(place.processes()).toEqual([]);
  });

  test('an agent it does not have: exit 3', async () => {
    await start();
    const { stdout, stderr, exitCode } = await gdn('send', '--agent', 'nobody', '--input', 'Hi', '--json');
    expect(stderr).toStartWith('E_AGENT_UNKNOWN: There is no agent "nobody".');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    await stop();
  });
});

describe('a swarm that does not run', () => {
  test.each([['send --input Hi'], ['stop'], ['cancel'], ['restart']])('%s: what to type, exit 3', async (line) => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const [command = '', ...args] = line.split(' ');
    const { stdout, stderr, exitCode } = await gdn(command, ...args, '--json');
    expect(stderr).toBe(
      'E_CONTROL_CLOSED: Swarm "default" is not running.\nStart it with `gdn run bundle --detach`, then ask again.\n',
    );
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
  });

  test('status: says so, exit 0', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const { stdout, ...rest } = await gdn('status', '--json');
    expect(JSON.parse(stdout)).toEqual({ running: false, agents: [] });
    expect(rest).toEqual(quiet);
    expect((await gdn('status')).stdout).toBe(
      'Swarm "default" is not running. Start it with `gdn run bundle --detach`.\n',
    );
  });
});

describe('the command line', () => {
  test.each(['run', 'send', 'status', 'stop', 'cancel', 'restart'])(
    '%s --help ends with an example',
    async (command) => {
      const { stdout, exitCode } = await place.run(command, '--help');
      expect(stdout).toMatch(/\nExamples?:\n(  \$ .*gdn .*\n)+$/);
      for (const option of ['--json', '--state-root', '--bundle']) expect(stdout).toContain(option);
      expect(exitCode).toBe(0);
    },
  );

  test.each([
    [['send'], "required option '--input <text>' not specified"],
    [
      ['stop', '--grace', 'soon'],
      "option '--grace <seconds>' argument 'soon' is invalid. It is no number of seconds from 0 to 3600.",
    ],
    [['run', '--agent', 'host'], "option '--agent' needs option '--input', or a terminal to chat at"],
  ])('%p: exit 2', async (args, problem) => {
    const { stdout, stderr, exitCode } = await place.run(...args);
    expect(stderr).toBe(`E_USAGE: ${problem}\nRun it with \`--help\` to see what there is.\n`);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
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

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('It did not happen.');
  }
}
