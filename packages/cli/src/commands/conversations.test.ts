// Real processes: what `gdn` shows of conversations, logs and dead letters.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle, tellTale } from '../testing/sample-bundle.ts';

// Several processes one after the other, on a machine that may be busy.
setDefaultTimeout(60_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]));

describe('gdn instance', () => {
  test('list and show: the same with and without a running swarm', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ agents: ['helper'] }) });
    expect(await gdn('instance list --json')).toEqual({ stdout: '[]\n', stderr: '', exitCode: 0 });
    expect(existsSync(place.stateRoot)).toBe(false);
    await place.run('run', 'bundle', '--trust', '--input', 'Hi');
    await place.run('run', 'bundle', '--trust', '--input', 'Ho', '--agent', 'helper', '--instance', 'a/b');

    const asleep = await json('instance list --json');
    expect(asleep).toEqual([
      {
        agent: 'helper',
        instanceKey: 'a/b',
        status: 'asleep',
        messages: 2,
        updatedAt: expect.stringMatching(/^20.*Z$/),
      },
      { agent: 'host', instanceKey: 'default', status: 'asleep', messages: 2, updatedAt: expect.any(String) },
    ]);
    const shown = await json('instance show helper a/b --json');
    expect(shown).toMatchObject({ agent: 'helper', instanceKey: 'a/b', extensions: {} });
    expect(shown.messages.map(({ data }: { data: { role: string } }) => data.role)).toEqual(['user', 'assistant']);
    for (const field of ['id', 'data', 'metadata', 'createdAt', 'source'])
      expect(shown.messages[0]).toHaveProperty(field);

    await place.run('run', 'bundle', '--trust', '--detach');
    expect(await json('instance list --json')).toEqual(asleep);
    expect(await json('instance show helper a/b --json')).toEqual(shown);
    expect((await gdn('instance show helper a/b')).stdout).toBe('user  Ho\nassistant  You said: Ho\n');
    expect((await gdn('stop')).exitCode).toBe(0);
  });

  test('one that is not there: exit 3', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const { stdout, stderr, exitCode } = await gdn('instance show host other');
    expect(stderr).toStartWith('E_INSTANCE_UNKNOWN: Agent "host" has no conversations.\n');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    expect((await gdn('run --trust --input Hi')).exitCode).toBe(0);
    expect((await gdn('instance show host defualt')).stderr).toBe(
      'E_INSTANCE_UNKNOWN: Agent "host" has no conversation "defualt".\n' +
        'Did you mean `default`? `gdn instance list` shows what there is.\n',
    );
    expect((await gdn('instance show hots default')).stderr).toBe(
      'E_INSTANCE_UNKNOWN: Agent "hots" has no conversations.\n' +
        'Did you mean `host`? `gdn instance list` shows what there is.\n',
    );
  });
});

describe('gdn logs', () => {
  test('what a swarm has logged, also when it is gone; --agent narrows it down', async () => {
    const module = `export const register = (api) => { api.logger.warn('Hello from inside.'); };`;
    await place.write('bundle', { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': module });
    await place.run('run', 'bundle', '--trust', '--input', 'Hi');
    const { stdout } = await gdn('logs');
    expect(stdout).toMatch(/^20\S+Z info Swarm "default" runs with the agents host\.$/m);
    const lines = (await gdn('logs --agent host --json')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(expect.objectContaining({ agent: 'host', message: 'Hello from inside.' }));
    expect(lines.every(({ agent }) => agent === 'host')).toBe(true);
    expect((await gdn('logs --trace 00000000000000000000000000000000')).stdout).toBe('');
  });

  test('-f goes on until the swarm stops', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    await place.run('run', 'bundle', '--trust', '--detach');
    const child = place.start('logs', '--bundle', 'bundle', '-f');
    const reader = child.stdout.getReader();
    let seen = new TextDecoder().decode((await reader.read()).value);
    expect((await gdn('stop')).exitCode).toBe(0);
    for (let next = await reader.read(); next.value !== undefined; next = await reader.read()) {
      seen += new TextDecoder().decode(next.value);
    }
    expect(seen).toContain('Swarm "default" is stopped.');
    expect(seen.match(/runs with the agents/g)).toHaveLength(1);
    expect(await child.exited).toBe(0);
  });

  test('-f without a running swarm: exit 3', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const { stderr, exitCode } = await gdn('logs -f');
    expect(stderr).toStartWith('E_CONTROL_CLOSED: ');
    expect(exitCode).toBe(3);
  });
});

describe('gdn deadletter', () => {
  test('list, retry, drop', async () => {
    const mark = join(place.folder, 'crash');
    writeFileSync(mark, '');
    const module = `import { existsSync } from 'node:fs';
      export const register = (api) => api.pipeline.register('turn', (ctx) => {
        if (existsSync(${JSON.stringify(mark)})) process.kill(process.pid, 'SIGKILL');
        return ctx.next();
      });`;
    await place.write('bundle', { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': module });
    await place.run('run', 'bundle', '--trust', '--detach');
    expect((await gdn('deadletter list')).stdout).toBe('There are no dead letters.\n');
    for (const id of ['bad-1', 'bad-2']) {
      expect((await gdn(`send --input Crash --id ${id} --wait`)).exitCode).toBe(1);
    }
    expect(await json('deadletter list --json')).toMatchObject([
      { agent: 'host', instanceKey: 'default', eventId: 'bad-1', input: 'Crash', crashes: 3 },
      { eventId: 'bad-2' },
    ]);
    expect((await gdn('deadletter list --agent host')).stdout).toStartWith('host default bad-1  20');
    rmSync(mark);
    expect(await json('deadletter retry host default bad-1 --json')).toEqual({ retried: true });
    expect((await gdn('deadletter drop host default bad-2')).stdout).toBe('Forgotten.\n');
    expect(await json('deadletter list --json')).toEqual([]);
    const { stdout, stderr, exitCode } = await gdn('deadletter retry host default bad-2');
    expect(stderr).toStartWith('E_DEAD_LETTER_UNKNOWN: There is no dead letter "bad-2" of host (default).\n');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    expect((await gdn('stop')).exitCode).toBe(0);
  });
});

function gdn(line: string) {
  return place.run(...line.split(' '), '--bundle', 'bundle');
}

async function json(line: string) {
  const { stdout, stderr, exitCode } = await gdn(line);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return JSON.parse(stdout);
}
