// Tests with real agents: `gdn replay` of turns that a real swarm ran. The tool writes a file when it is imported, and
// another file when it runs.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplayReport } from '@goondan/runtime/history';
import { openaiWire } from '../../../runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from '../../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { outputOf } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(120_000);

const place = new GdnPlace();
const leave = async () => expect(await place.remove()).toEqual([]);

const gdn = (...args: string[]) => place.run(...args, '--bundle', 'bundle', '--trust');

async function replayJson(...args: string[]): Promise<ReplayReport & { readonly exitCode: number }> {
  const { stdout, stderr, exitCode } = await gdn('replay', ...args, '--json');
  expect(stderr).toBe('');
  return { ...(JSON.parse(stdout) as ReplayReport), exitCode };
}

const mark = () => join(place.folder, 'mark');

const tag = (text: string) => `
  import { randomBytes, randomUUID } from 'node:crypto';
  import { createSystemMessage } from '@goondan/types';
  export function register(api, config) {
    api.pipeline.register('step', async function tagStep(ctx) {
      const said = [${text}, new Date().toISOString(), Math.random(), randomUUID(), randomBytes(4).toHex()].join(' ');
      ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(said) });
      return ctx.next();
    });
  }`;

const guard = (days: number) => `
  export function register(api) {
    api.pipeline.register('toolCall', async (ctx) => {
      ctx.args = { ...ctx.args, days: ${days} };
      return ctx.next();
    }, { name: 'limit days' });
  }`;

interface Written {
  readonly model?: string;
  readonly files?: Record<string, string>;
}

async function writeBundle({ model, files }: Written = {}): Promise<void> {
  const script = [
    `- { when: 'weather', call: { tool: weather__get, args: { days: 9 } } }`,
    `- { afterTool: weather__get, say: 'It is {{result.degrees}} degrees.' }`,
    `- { say: 'You said: {{input}}' }`,
  ].join('\n');
  const agent = 'tools: [Tool/weather]\nextensions: [Extension/tag, Extension/guard, Extension/idle]';
  const extension = (name: string) =>
    `apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: ${name} }\nspec: { entry: ./${name}.ts }`;
  const tool =
    'kind: Tool\nmetadata: { name: weather }\nspec:\n  entry: ./weather.ts\n  exports:\n    - name: get\n      description: The weather.\n      parameters: { type: object }\n';
  const more = [tool, ...['tag', 'guard', 'idle'].map(extension)].join('\n---\n');
  const bundle = sampleBundle({ script, agent, more });
  await place.write('bundle', {
    'goondan.yaml': model === undefined ? bundle : bundle.replace(/provider: scripted[\s\S]*?(?=---)/, `${model}\n`),
    'weather.ts': `
      import { writeFileSync } from 'node:fs';
      writeFileSync(${JSON.stringify(`${mark()}-imported`)}, '');
      export const handlers = { get() { writeFileSync(${JSON.stringify(mark())}, ''); return { degrees: 20 }; } };`,
    'tag.ts': tag(`'be kind'`),
    'guard.ts': guard(3),
    'idle.ts': `export const register = (api) => api.pipeline.register('turn', (ctx) => ctx.next());`,
    'new-guard.ts': guard(7),
    ...files,
  });
}

async function refusal(...args: string[]) {
  const { stderr, exitCode } = await gdn('replay', ...args);
  return { stderr, exitCode };
}

async function run(input: string): Promise<string> {
  const { stdout, exitCode } = await gdn('run', '--input', input, '--json');
  expect(exitCode).toBe(0);
  return (JSON.parse(stdout) as { turnId: string }).turnId;
}

describe('gdn replay of one recorded turn', () => {
  let turnId: string;
  beforeAll(async () => {
    await writeBundle();
    expect(await refusal()).toEqual({ exitCode: 3, stderr: expect.stringContaining('There are no recorded turns.') });
    await run('hello');
    turnId = await run('weather');
    expect(existsSync(mark())).toBe(true);
  });
  afterAll(leave);

  test('an unchanged turn has no divergence, and no tool runs or is even imported', async () => {
    rmSync(mark(), { force: true });
    rmSync(`${mark()}-imported`, { force: true });
    const before = await place.run('instance', 'show', 'host', 'default', '--bundle', 'bundle', '--json');

    const stdout = outputOf(await gdn('replay'));
    const [head, asked, served, , verdict] = stdout.split('\n');
    expect(head).toStartWith(`Replayed turn ${turnId.slice('turn-event-'.length).slice(0, 8)}`);
    expect(asked).toBe('asked: weather');
    expect(served).toBe('2 steps, 2 model replies, 1 tool result served from the recording, 0 called');
    expect(verdict).toBe('No divergence: 4 layers behaved as recorded.');
    expect([existsSync(mark()), existsSync(`${mark()}-imported`)]).toEqual([false, false]);
    expect(await place.run('instance', 'show', 'host', 'default', '--bundle', 'bundle', '--json')).toEqual(before);
  });

  test('with a replaced extension, names it, its layer, the field and the values; the same file does not diverge', async () => {
    const swapped = await gdn('replay', turnId, '--swap', 'Extension/guard=bundle/new-guard.ts');
    expect(swapped.exitCode).toBe(1);
    expect(swapped.stdout.split('\n').slice(3)).toEqual([
      '',
      'First divergence:',
      '  Extension/guard, replaced by bundle/new-guard.ts',
      '  step 0 › toolCall weather__get › guard · limit days',
      '  changed args.days differently than in the recording',
      '    ~ args.days: 3 → 7',
      'The replay ended at step 0 › toolCall weather__get: the recording has no answer for this call.',
      '',
    ]);
    await Bun.write(join(place.folder, 'elsewhere/tag.ts'), tag(`'be kind'`));
    expect((await gdn('replay', turnId, '--swap', 'tag=elsewhere/tag.ts')).stdout).toContain('No divergence: 4 layers');
    await Bun.write(join(place.folder, 'elsewhere/tag.ts'), tag(`'be unkind'`));
    expect(await replayJson(turnId, '--swap', 'Extension/tag=elsewhere/tag.ts')).toMatchObject({
      exitCode: 1,
      turn: { turnId, agentName: 'host', instanceKey: 'default' },
      divergence: {
        cause: 'swapped',
        extension: 'tag',
        layer: 'tagStep',
        place: ['step 0'],
        what: 'message',
        changes: [{ before: expect.stringMatching(/^be kind 20/), after: expect.stringMatching(/^be unkind 20/) }],
      },
      stoppedAt: ['step 0', 'model Model/scripted'],
    });
  });

  test('without an extension, shows what it had done, or that nothing was missing', async () => {
    const idle = await gdn('replay', '--without', 'Extension/idle');
    expect(idle).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('No divergence: 3 layers') });
    const { exitCode, stdout } = await gdn('replay', '--without', 'guard', '--without', 'Extension/idle');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('  Extension/guard, left out\n  step 0 › toolCall weather__get › guard · limit days\n');
    expect(stdout).toContain('    − args.days: 9 → 3\n');
  });

  test('refuses unknown extensions, files and turns, and contradicting options', async () => {
    expect(await refusal('--without', 'Extension/gard')).toEqual({
      exitCode: 3,
      stderr: expect.stringMatching(
        /^E_REPLAY_EXTENSION: The turn is one of agent "host", which has no Extension\/gard\..*\n.*Extension\/guard\?/,
      ),
    });
    expect(await refusal('--swap', 'Extension/guard=./nowhere.ts')).toEqual({
      exitCode: 3,
      stderr: expect.stringMatching(
        /^E_REPLAY_SWAP: Extension\/guard cannot be replaced: there is no file ".*nowhere.ts"/,
      ),
    });
    expect(await refusal('nothing-like-it')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(/^E_TRACE_UNKNOWN/),
    });
    expect((await refusal('--swap', 'guard')).exitCode).toBe(2);
    expect((await refusal('--swap', 'guard=bundle/new-guard.ts', '--without', 'guard')).exitCode).toBe(2);
    const broken = await Bun.write(join(place.folder, 'broken.ts'), 'export const nothing = 1;');
    expect(broken).toBeGreaterThan(0);
    expect(await refusal('--swap', 'guard=broken.ts')).toMatchObject({ stderr: expect.stringMatching(/^E_EXT_LOAD/) });
  });

  test('refuses an untrusted folder, and turns with too few records', async () => {
    const untrusted = await place.run('replay', '--bundle', 'bundle');
    expect(untrusted).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(/^E_UNTRUSTED/) });
    const copy = join(place.folder, 'copy of the state');
    cpSync(place.stateRoot, copy, { recursive: true });
    const refuseCopy = () => refusal(turnId, '--state-root', copy);
    const files = [...new Bun.Glob('**/traces/*.jsonl').scanSync({ cwd: copy, absolute: true })];
    const path = files.find((each) => readFileSync(each, 'utf8').includes(turnId)) ?? '';
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const keep = async (isKept: (line: string) => boolean) => Bun.write(path, lines.filter(isKept).join('\n'));
    await keep((line) => !line.includes('"type":"beginning"'));
    expect(await refuseCopy()).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(/^E_REPLAY_INCOMPLETE/) });
    await keep((line) => !line.includes('"type":"end"'));
    expect(await refuseCopy()).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(/^E_REPLAY_UNFINISHED/) });
    const start = lines.findIndex((line) => line.includes('"type":"start"') && line.includes(`"turnId":"${turnId}"`));
    const [ofTurn] = /^\{"tag":"\w+","line":/.exec(lines[start] ?? '') ?? [];
    await Bun.write(path, lines.toSpliced(start + 1, 0, `${ofTurn}{"type":"cut"}}`).join('\n'));
    expect(await refuseCopy()).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('its file reached the size limit'),
    });
  });
});

describe('gdn replay', () => {
  afterEach(leave);

  test("Y-02 calls no model and needs neither a key nor the bytes of a file: the model's server gets no request", async () => {
    await using server = startWireServer(openaiWire);
    const usage = { input: 20, output: 3, cached: 0 };
    const model = `provider: openai-compatible\n  model: m\n  endpoint: ${server.url}/v1\n  apiKey: { valueFrom: { env: MODEL_KEY } }`;
    await writeBundle({ model });
    const call = { id: 'c', name: 'weather__get', args: {} };
    server.answer({ reply: { text: ['I look.'], calls: [call], usage } }, { reply: { text: ['It rains.'], usage } });
    await Bun.write(join(place.folder, 'cat.png'), Buffer.from('iVBORw0KGgoAAAAN', 'base64'));
    const args = ['run', '--bundle', 'bundle', '--trust', '--input', 'weather', '--file', 'cat.png'];
    expect(await place.runWith({ env: { MODEL_KEY: 'a-key-of-a-model' } }, ...args)).toMatchObject({ exitCode: 0 });
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[0]?.body)).toContain('data:image/png;base64,');
    for (const name of readdirSync(join(place.stateRoot, 'workspaces')))
      rmSync(join(place.stateRoot, 'workspaces', name, 'blobs'), { recursive: true });
    const { stdout, exitCode } = await gdn('replay', 'last');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('2 steps, 2 model replies, 1 tool result served from the recording, 0 called');
    expect(server.requests).toHaveLength(2);
  });

  test('an extension edited since is reported as changed; one that reads its own file diverges by itself', async () => {
    const file = join(place.folder, 'own.txt');
    await Bun.write(file, 'one');
    const own = `import { readFileSync } from 'node:fs';\n${tag(`readFileSync(${JSON.stringify(file)}, 'utf8')`)}`;
    await writeBundle({ files: { 'tag.ts': own } });
    await run('weather');
    expect((await replayJson()).divergence).toBeUndefined();

    await Bun.write(join(place.folder, 'bundle/guard.ts'), guard(5));
    expect(await replayJson()).toMatchObject({ exitCode: 1, divergence: { extension: 'guard', cause: 'changed' } });
    await Bun.write(join(place.folder, 'bundle/guard.ts'), guard(3));

    await Bun.write(file, 'two');
    const { stdout, exitCode } = await gdn('replay');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('  Extension/tag diverges by itself\n');
    expect(stdout).toContain('It reads something that is not in the recording: network, files, timers');
    const swapped = await replayJson('--swap', 'Extension/guard=bundle/new-guard.ts');
    expect(swapped).toMatchObject({ exitCode: 1, without: { extension: 'tag', cause: 'itself' } });
    expect(swapped.divergence).toBeUndefined();
  });

  test('finds the turn of a called agent by its own id; the latest turn is one that no agent asked for', async () => {
    const script = [
      `- { when: '^ask', call: { tool: agents__request, args: { target: helper, input: 'Are you there?' } } }`,
      `- { afterTool: agents__request, say: 'It said {{result.response}}' }`,
      `- { say: 'You said: {{input}}' }`,
    ].join('\n');
    await place.write('bundle', {
      'goondan.yaml': sampleBundle({
        script,
        agent: 'tools: [Tool/agents]\nextensions: [Extension/idle]',
        agents: ['helper'],
        more: 'kind: Extension\nmetadata: { name: idle }\nspec: { entry: ./idle.ts }',
      }),
      'idle.ts': 'export const register = () => undefined;\n',
    });
    const turnId = await run('ask it');
    expect(await replayJson()).toMatchObject({ exitCode: 0, turn: { turnId }, served: { model: 2, tool: 1 } });
    const turns = await place.run('trace', '--agent', 'helper', '--bundle', 'bundle', '--json');
    const [called] = JSON.parse(turns.stdout) as { turnId: string }[];
    expect(await replayJson(called?.turnId ?? '')).toMatchObject({ exitCode: 0, turn: { agentName: 'helper' } });
    const elsewhere = await refusal(called?.turnId ?? '', '--without', 'Extension/idle');
    expect(elsewhere.stderr).toContain(
      'Replay a turn of agent "host": `gdn trace --agent host --bundle bundle` lists them.',
    );
  });
});
