// Tests with real agents: instances that do not start, because of their parts or their files on disk.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectSwarm, type Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { sampleStep } from '../../../../test/samples.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]));

/** A bundle in which `host` has one extension. */
const withPart = {
  agent: 'extensions: [Extension/part]',
  more: 'kind: Extension\nmetadata: { name: part }\nspec: { entry: ./part.ts }',
};
const broken = `export function register() { throw new Error('I am broken'); }\n`;
const counting = `export function register(api) {
  api.pipeline.register('turn', async (ctx) => {
    await api.state.set(((await api.state.get()) ?? 0) + 1);
    return ctx.next();
  });
}
`;
const timesSaid = (text: string) => text.split('register failed: I am broken').length - 1;

describe('an extension that cannot be loaded', () => {
  test('is reported once by `gdn run --input`, by `gdn run`, and in the log; a changed file is tried again', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle(withPart), 'part.ts': broken });
    await place.serve('bundle');
    expect((await gdn('send --input one')).exitCode).toBe(0);
    await until(async () => (await agents())[0]?.status === 'does not start');
    expect(timesSaid((await gdn('logs')).stdout)).toBe(1);
    expect((await gdn('stop')).exitCode).toBe(0);

    // The swarm tries to handle an accepted input when it starts, and again with every further input.
    const foreground = place.start('run', 'bundle', '--trust');
    const printed = new Response(foreground.stderr).text();
    // The process that failed may live a moment longer.
    await until(async () => {
      const [host] = await agents();
      return host?.status === 'does not start' && host.pid === null;
    });
    expect(await agents()).toMatchObject([{ queued: 1, problem: expect.stringContaining('E_EXT_INIT') }]);
    const asked = await gdn('send --input two --wait');
    expect(asked.stderr).toMatch(
      /^E_EXT_INIT: .*I am broken \(part\.ts:1:\d+\)\n.* The input is kept, so do not send it again: .*\n$/,
    );
    expect(asked.stderr).not.toMatch(/(?<!do not )send (?:it|the input) again/i);
    // The attempt for the second input may not have ended yet.
    await until(async () => (await agents())[0]?.status === 'does not start');
    expect(await agents()).toMatchObject([{ queued: 2 }]);

    await place.write('bundle', { 'part.ts': counting });
    expect((await gdn('reload')).exitCode).toBe(0);
    expect((await gdn('send --input three --wait')).stdout).toBe('You said: three\n');
    expect((await gdn('instance show host default')).stdout.match(/You said: .*/g)).toEqual([
      'You said: one',
      'You said: two',
      'You said: three',
    ]);
    expect((await gdn('stop')).exitCode).toBe(0);
    expect(timesSaid(await printed)).toBe(1);
    expect(await foreground.exited).toBe(0);
  });

  test('a run whose agent does not start withdraws its input, so that no later run answers it', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle(withPart), 'part.ts': broken });
    for (const input of ['one', 'two']) {
      const { stdout, stderr, exitCode } = await place.run('run', 'bundle', '--trust', '--input', input, '--json');
      const error = { code: 'E_EXT_INIT', suggestion: expect.stringContaining('The input was withdrawn: ') };
      expect(JSON.parse(stdout)).toMatchObject({ finishReason: 'error', error, input: 'withdrawn' });
      expect([timesSaid(stderr), exitCode]).toEqual([1, 1]);
    }
    await place.serve('bundle');
    const asked = await place.run('run', 'bundle', '--trust', '--input', 'three', '--json');
    expect(JSON.parse(asked.stdout)).toMatchObject({ error: { code: 'E_EXT_INIT' }, input: 'withdrawn' });
    expect((await gdn('stop')).exitCode).toBe(0);

    await place.write('bundle', { 'part.ts': counting });
    const fixed = await place.run('run', 'bundle', '--trust', '--input', 'four');
    expect(fixed).toEqual({ stdout: 'You said: four\n', stderr: '', exitCode: 0 });
    expect((await gdn('instance show host default')).stdout.match(/.*(?:one|two|three|four)$/gm)).toEqual([
      'user  four',
      'assistant  You said: four',
    ]);
  });
});

/** Ways to damage a file. No crash could cause such damage. */
const damages: Readonly<Record<string, (file: string) => void>> = {
  flipped: (file) => {
    const bytes = readFileSync(file);
    if (bytes.length === 0) return writeFileSync(file, 'noise\n');
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  },
  removed: (file) => rmSync(file),
  crlf: (file) => writeFileSync(file, readFileSync(file, 'latin1').replaceAll('\n', '\r\n'), 'latin1'),
};

/** Every way to damage this file in `npm run proof`; one of them in `npm test`, another one for the next file. */
function damagesOf(text: string, at: number): string[] {
  const ways = Object.keys(damages).filter((damage) => damage !== 'crlf' || text.includes('\n'));
  return sampleStep === 1 ? ways : ways.slice(at % ways.length).slice(0, 1);
}

describe('damage to one file of an idle conversation', () => {
  test('every other conversation starts and answers; that one answers completely, or names the problem at once', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle(withPart), 'part.ts': counting });
    const first = await start();
    await first.ask({ input: 'one', instanceKey: 'probe' });
    await first.stop();
    const before = await start();
    const probed = filesOf('probe').map((file) => readFileSync(file, 'latin1'));
    const cases = probed.flatMap((text, at) =>
      damagesOf(text, at).map((damage) => ({ damage, at, instanceKey: `${damage}-${at}` })),
    );
    expect(new Set(cases.map(({ damage }) => damage))).toEqual(new Set(Object.keys(damages)));
    const all = [...cases.map(({ instanceKey }) => instanceKey), 'here', 'there'];
    await Promise.all(all.map((instanceKey) => before.ask({ input: 'one', instanceKey })));
    await before.stop();

    for (const { damage, at, instanceKey } of cases) damages[damage]?.(filesOf(instanceKey)[at] ?? '');
    swapFolders('here', 'there');
    const control = await start();
    const answers = await Promise.all(all.map((instanceKey) => answerOf(control, instanceKey)));
    const told = all.filter((_, at) => answers[at] !== 'You said: two');
    // More than half of the damaged files are reported. The others are rewritten at the start, or only people read
    // them.
    expect(told.length - ['here', 'there'].length).toBeGreaterThan(cases.length / 2);
    for (const answer of answers) expect(answer).toMatch(/^(You said: two|E_STORE_CORRUPT|E_STORE_INSTANCE)$/);
    expect(told).toContain('here');
    expect(told).toContain('there');

    const listed = (await agents()) as ListedConversation[];
    const silent = listed.filter(({ status }) => status === 'does not start').map(({ instanceKey }) => instanceKey);
    expect(silent.toSorted()).toEqual(told.toSorted());
    const conversations = JSON.parse((await gdn('instance list --json')).stdout) as ListedConversation[];
    const shortened = conversations.filter(
      ({ messages, status }) => ![4, null].includes(messages) && status !== 'does not start',
    );
    expect(shortened.map(({ instanceKey }) => instanceKey)).toEqual(['probe']);
    expect((await gdn('send --input two --wait --instance probe')).stdout).toBe('You said: two\n');
    expect((await gdn(`send --input two --wait --instance ${told[0]}`)).stderr).toMatch(/^E_STORE_/);
    await control.stop();
  });

  test('`gdn status` and `gdn instance list` show a damaged conversation, whether the swarm runs or not', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    expect((await place.run('run', 'bundle', '--trust', '--input', 'one')).exitCode).toBe(0);
    const metadata = filesOf('default').find((file) => file.endsWith('metadata.json')) ?? '';
    damages['flipped']?.(metadata);
    const problem = `E_STORE_CORRUPT: ${metadata} is damaged`;
    expect((await gdn('instance list')).stdout).toStartWith(`host default: does not start, ${problem}`);
    expect((await gdn('status')).stdout).toContain(`\n  host (default): does not start, ${problem}`);
    expect(JSON.parse((await gdn('status --json')).stdout).left).toMatchObject([
      { agent: 'host', instanceKey: 'default', inputs: 0, problem: expect.stringContaining(problem) },
    ]);

    const control = await start();
    const listed = [{ instanceKey: 'default', status: 'does not start', problem: expect.stringContaining(problem) }];
    expect(JSON.parse((await gdn('instance list --json')).stdout)).toMatchObject(listed);
    for (const wait of ['', ' --wait'])
      expect((await gdn(`send --input two${wait}`)).stderr).toMatch(
        /^E_STORE_CORRUPT: .*\n.* The input was not accepted, so it is not kept\.\n$/,
      );
    expect(await agents()).toMatchObject(listed);
    await control.stop();
  });

  test('the printed remedy keeps the intact parts, and a restored file is used again', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    expect((await place.run('run', 'bundle', '--trust', '--input', 'one')).exitCode).toBe(0);
    const copies = filesOf('default').map((file) => ({ file, bytes: readFileSync(file) }));
    for (const { file } of copies) if (statSync(file).size > 0) damages['flipped']?.(file);
    const refused = await place.run('run', 'bundle', '--trust', '--input', 'two');
    expect(refused.stderr).toMatch(/^E_STORE_CORRUPT: .*\n.*backup.*`gdn fork`.*`gdn instance export`.*\n$/);
    expect(refused.stderr).not.toContain('delete');
    expect(refused.stderr).not.toMatch(/(?<!do not )send (?:it|the input) again/i);
    expect([refused.stdout, refused.exitCode]).toEqual(['', 1]);
    for (const { file, bytes } of copies) writeFileSync(file, bytes);
    expect((await place.run('run', 'bundle', '--trust', '--input', 'three')).stdout).toBe('You said: three\n');
  });
});

function gdn(line: string) {
  return place.run(...line.split(' '), '--bundle', 'bundle');
}

async function agents() {
  return JSON.parse((await gdn('status --json')).stdout).agents;
}

async function start(): Promise<Pick<Swarm, 'ask' | 'stop'>> {
  await place.serve('bundle');
  return connectSwarm({ stateRoot: place.stateRoot, workspaceId: workspace() });
}

function workspace(): string {
  return readdirSync(join(place.stateRoot, 'workspaces'))[0] ?? '';
}

function folderOf(instanceKey: string): string {
  const instances = join(place.stateRoot, 'workspaces', workspace(), 'instances');
  return join(instances, readdirSync(instances).find((name) => name.endsWith(instanceKey)) ?? '');
}

/** Lists all files of an instance, whatever their names and contents. */
function filesOf(instanceKey: string): string[] {
  const folder = folderOf(instanceKey);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .toSorted();
}

function swapFolders(one: string, other: string): void {
  const [first, second] = [folderOf(one), folderOf(other)];
  renameSync(first, `${first}.aside`);
  renameSync(second, first);
  renameSync(`${first}.aside`, second);
}

async function answerOf(control: Pick<Swarm, 'ask'>, instanceKey: string): Promise<string> {
  try {
    const { result } = await control.ask({ input: 'two', instanceKey });
    const content = result.responseMessage?.data.content;
    return typeof content === 'string' ? content : (JSON.stringify(content).match(/You said: \w+/)?.[0] ?? 'nothing');
  } catch (error) {
    return error instanceof GoondanError ? error.code : String(error);
  }
}

interface ListedConversation {
  readonly instanceKey: string;
  readonly status: string;
  readonly messages: number | null;
}
