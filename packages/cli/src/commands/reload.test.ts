import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

const place = new GdnPlace();
async function leave(): Promise<void> {
  await place.run('stop', '--bundle', 'swarm', '--grace', '0');
  expect(await place.remove()).toEqual([]);
}

setDefaultTimeout(120_000);

/** Writes a bundle of several files with two agents that answer with the first word of their prompt. */
async function writeBundle(
  words: { host: string; helper: string },
  more: Partial<Parameters<typeof sampleBundle>[0]> = {},
) {
  return place.write('swarm', {
    'goondan.yaml': sampleBundle({ agent: 'prompt: { systemRef: ./host.md }', agents: ['helper'], ...more }),
    'host.md': `${words.host}\n`,
    'helper.md': `${words.helper}\n`,
  });
}

interface Status {
  readonly running: boolean;
  readonly agents: readonly { readonly agent: string; readonly pid?: number; readonly instanceKey: string }[];
}

/** Returns the pid of each agent's process. */
async function processes(): Promise<Record<string, number | undefined>> {
  const { stdout } = await place.run('status', '--bundle', 'swarm', '--json');
  // The type describes the output of `gdn status --json`.
  const { agents } = JSON.parse(stdout) as Status;
  return Object.fromEntries(agents.map(({ agent, pid }) => [agent, pid]));
}

async function wakeBoth(): Promise<void> {
  for (const agent of ['host', 'helper']) {
    const { exitCode } = await place.run('send', '--bundle', 'swarm', '--agent', agent, '--input', 'hi', '--wait');
    expect(exitCode).toBe(0);
  }
}

describe('gdn reload', () => {
  // Every test begins with this bundle and with awake agents.
  const usual = () => writeBundle({ host: 'one', helper: 'two' });
  beforeAll(async () => {
    await usual();
    await place.serve('swarm');
  });
  beforeEach(async () => {
    await usual();
    expect(await place.run('reload', '--bundle', 'swarm')).toMatchObject({ exitCode: 0 });
    await wakeBoth();
  });
  afterAll(leave);

  test('L-01 changes the prompt of an agent without another process, and names each part', async () => {
    const before = await processes();
    const messages = await messagesOfHost();
    expect(await place.run('reload', '--bundle', 'swarm')).toMatchObject({
      exitCode: 0,
      stdout: 'Nothing has changed.\n',
    });
    await place.write('swarm', { 'host.md': 'another\n' });
    const { stdout } = await place.run('reload', '--bundle', 'swarm', '--json');
    expect(JSON.parse(stdout)).toEqual({
      kept: ['Agent/helper', 'Swarm/default'],
      changed: ['Agent/host'],
      added: [],
      removed: [],
      agents: [{ agent: 'host', parts: [{ identity: 'Prompt', fate: 'updated' }], finishing: [] }],
    });
    await wakeBoth();
    expect(await processes()).toEqual(before);
    expect(await messagesOfHost()).toBe(messages + 2);
  });

  test('L-05 changes nothing when the bundle has errors, prints each with its place, and exits 4', async () => {
    const before = await processes();
    await writeBundle({ host: 'one', helper: 'two' }, { swarm: 'polices: {}' });
    const { exitCode, stderr, stdout } = await place.run('reload', '--bundle', 'swarm');
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toMatch(/goondan\.yaml:\d+:\d+ \S+ .*polices/);
    expect(stderr).toEndWith('Correct the errors listed above; nothing has changed, and the swarm keeps running.\n');
    expect(await processes()).toEqual(before);
    const inJson = await place.run('reload', '--bundle', 'swarm', '--json');
    expect(inJson).toMatchObject({ exitCode: 4, stdout: '' });
    const { error } = JSON.parse(inJson.stderr.trimEnd().split('\n').at(-1) ?? '');
    expect(error).toMatchObject({
      code: 'E_BUNDLE_INVALID',
      problems: [{ file: 'goondan.yaml', line: expect.any(Number), message: expect.stringContaining('polices') }],
    });
  });

  test('adds and removes agents', async () => {
    await writeBundle({ host: 'one', helper: 'two' }, { agents: ['other'] });
    expect((await place.run('reload', '--bundle', 'swarm')).stdout).toBe(
      'Reloaded: added Agent/other; removed Agent/helper; 2 kept.\n',
    );
    const asked = await place.run('send', '--bundle', 'swarm', '--agent', 'other', '--input', 'hi', '--wait');
    expect(asked).toMatchObject({ exitCode: 0, stdout: 'You said: hi\n' });
    const gone = await place.run('send', '--bundle', 'swarm', '--agent', 'helper', '--input', 'hi');
    expect(gone.stderr).toContain('E_AGENT_UNKNOWN');
  });

  async function messagesOfHost(): Promise<number> {
    const { stdout } = await place.run('instance', 'show', 'host', 'default', '--bundle', 'swarm', '--json');
    return JSON.parse(stdout).messages.length;
  }
});

/** An extension whose module is `x.ts`. */
const throwing = 'kind: Extension\nmetadata: { name: x }\nspec: { entry: ./x.ts }';

describe('gdn run --watch', () => {
  afterEach(leave);

  test('L-01 prints the changed parts of the agent; L-05 an invalid edit changes nothing, and the reason is printed once', async () => {
    const folder = await writeBundle({ host: 'one', helper: 'two' });
    const served = place.start('run', 'swarm', '--trust', '--watch');
    let said = '';
    void served.stderr.pipeTo(new WritableStream({ write: (bytes) => void (said += new TextDecoder().decode(bytes)) }));
    await until(() => said.includes('Ready for input'));
    await wakeBoth();
    const before = await processes();

    await Bun.write(join(folder, 'host.md'), 'another\n');
    const reloaded = 'Reloaded: changed Agent/host; 2 kept.\nAgent/host\n  updated   Prompt\n';
    await until(() => said.includes(reloaded));
    await wakeBoth();
    expect(await processes()).toEqual(before);

    await writeBundle({ host: 'another', helper: 'two' }, { swarm: 'polices: {}' });
    await until(() => /Nothing was changed\. E_BUNDLE_INVALID[\s\S]*goondan\.yaml:\d+:\d+ .*polices/.test(said));
    expect(await processes()).toEqual(before);

    await place.write('swarm', {
      'goondan.yaml': sampleBundle({ agent: 'extensions: [Extension/x]', agents: ['helper'], more: throwing }),
      'x.ts': 'throw new Error("not today");',
    });
    await until(() => /Nothing was changed\. E_RELOAD_FAILED.*not today/.test(said));
    expect(said.split('not today')).toHaveLength(2);

    await writeBundle({ host: 'third', helper: 'two' });
    await until(() => said.split(reloaded).length === 3);
    served.kill('SIGTERM');
    expect(await served.exited).toBe(0);
  });

  test('works in the background, too', async () => {
    const folder = await writeBundle({ host: 'one', helper: 'two' });
    expect(await place.run('run', 'swarm', '--trust', '--watch', '--detach')).toMatchObject({ exitCode: 0 });
    await wakeBoth();
    await Bun.write(join(folder, 'host.md'), 'another\n');
    await until(async () => (await place.run('logs', '--bundle', 'swarm')).stdout.includes('changed Agent/host'));
  });

  test('cannot be used with one question', async () => {
    const { exitCode, stderr } = await place.run('run', 'swarm', '--watch', '--input', 'hi');
    expect(exitCode).toBe(2);
    expect(stderr).toContain("option '--watch' cannot be used with option '--input'");
  });
});
