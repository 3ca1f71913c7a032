// Tests a reload of a swarm with real processes: one swarm, two agents, three conversations.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import type { Swarm } from './control/swarm.ts';
import type { LogLine } from './ports/log-line.ts';
import { startSwarm } from './start-swarm.ts';
import { type TemporaryBundle, temporaryBundle } from './testing/temporary-bundle.ts';
import { until } from '../../../test/until.ts';

setDefaultTimeout(60_000);

interface Bundle {
  readonly extensions: readonly string[];
  readonly word: string;
  readonly prompt: string;
  readonly tools: readonly string[];
  readonly environment: string;
  readonly lock: string;
}
const first: Bundle = {
  extensions: ['probe', 'neighbour', 'lock'],
  word: 'one',
  prompt: 'First.',
  tools: ['gate'],
  environment: 'one',
  lock: 'one',
};

/** Both agents have the same parts; only the clerk has the environment, and only the cook has the lock. */
function yaml({ extensions, word, prompt, tools, environment, lock }: Bundle): string {
  const refs = (names: readonly string[], kind: string) => names.map((name) => `${kind}/${name}`).join(', ');
  const agent = (name: string, more: string, own: readonly string[]) =>
    `kind: Agent, metadata: { name: ${name} }, spec: { prompt: { system: ${prompt} }, modelConfig: { modelRef: Model/demo }, tools: [${refs(tools, 'Tool')}], extensions: [${refs(own, 'Extension')}]${more} }`;
  const resources = [
    'kind: Model, metadata: { name: demo }, spec: { provider: scripted, model: demo, options: { script: [{ when: wait, call: { tool: gate__wait } }, { say: done }] } }',
    agent(
      'clerk',
      `, environment: { WORD: ${environment} }`,
      extensions.filter((name) => name !== 'lock'),
    ),
    agent('cook', '', extensions),
    'kind: Extension, metadata: { name: probe }, spec: { entry: ./probe.ts }',
    `kind: Extension, metadata: { name: neighbour }, spec: { entry: ./neighbour.ts, config: { word: ${word} } }`,
    `kind: Extension, metadata: { name: lock }, spec: { entry: ./lock.ts, exclusive: true, config: { word: ${lock} } }`,
    ...tools.map(
      (name) =>
        `kind: Tool, metadata: { name: ${name} }, spec: { entry: ./gate.ts, exports: [{ name: wait, description: Waits for a file. }] }`,
    ),
    'kind: Swarm, metadata: { name: shop }, spec: { entryAgent: Agent/clerk, agents: [Agent/clerk, Agent/cook], workspace: shop }',
  ];
  return resources.map((resource) => `{ apiVersion: goondan.ai/v1, ${resource} }\n`).join('---\n');
}

const files = {
  // Answers with a nonce that is made when the module is imported, and with the tools of each step.
  'probe.ts': `import { createAssistantMessage } from '@goondan/types';
const nonce = crypto.randomUUID();
export function register({ pipeline }) {
  let steps = [];
  pipeline.register('step', (ctx) => {
    steps.push(ctx.runtime.tools.map(({ name }) => name));
    return ctx.next();
  });
  pipeline.register('turn', async (ctx) => {
    steps = [];
    const result = await ctx.next();
    const about = { nonce, pid: process.pid, steps, word: process.env.WORD };
    return { ...result, responseMessage: createAssistantMessage(JSON.stringify(about)) };
  });
}
`,
  // Writes a line for each registration, and throws in the process that the file \`fail\` names.
  'neighbour.ts': `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
export async function register({ state, logger }, { word }) {
  const fail = join(import.meta.dirname, 'fail');
  const seen = await state.get();
  appendFileSync(join(import.meta.dirname, 'registered'), JSON.stringify({ pid: process.pid, word, seen }) + '\\n');
  if (existsSync(fail) && readFileSync(fail, 'utf8') === String(process.pid)) throw new Error('not in this process');
  await state.set({ word });
}
`,
  'lock.ts': 'export function register() {}\n',
  'gate.ts': `import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
export const handlers = {
  async wait() {
    writeFileSync(join(import.meta.dirname, 'waits'), '');
    while (!existsSync(join(import.meta.dirname, 'open'))) await Bun.sleep(5);
    return 'opened';
  },
};
`,
};

interface Seen {
  readonly nonce: string;
  readonly pid: number;
  readonly steps: readonly (readonly string[])[];
  readonly word?: string;
}
interface Registered {
  readonly pid: number;
  readonly word: string;
  readonly seen?: unknown;
}

describe('a reload', () => {
  let bundle: TemporaryBundle;
  let stateRoot: string;
  let swarm: Swarm;
  let current = first;
  const lines: LogLine[] = [];

  const conversations = [
    { agent: 'clerk', instanceKey: 'one' },
    { agent: 'clerk', instanceKey: 'two' },
    { agent: 'cook', instanceKey: 'default' },
  ];
  const ask = async (at: (typeof conversations)[number], input = 'look'): Promise<Seen> =>
    JSON.parse(textOf((await swarm.ask({ ...at, input })).result.responseMessage));
  const lookAll = () => Promise.all(conversations.map((at) => ask(at)));
  const write = (name: string, text = '') => writeFileSync(join(bundle.folder, name), text);
  const registered = (word: string): Registered[] =>
    readFileSync(join(bundle.folder, 'registered'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line): Registered => JSON.parse(line))
      .filter((each) => each.word === word);
  const reload = (change: Partial<Bundle>) => {
    current = { ...current, ...change };
    write('goondan.yaml', yaml(current));
    return swarm.reload();
  };
  const lives = (seen: readonly Seen[]) => seen.map(({ nonce, pid }) => ({ nonce, pid }));

  beforeAll(async () => {
    bundle = temporaryBundle({ ...files, 'goondan.yaml': yaml(first) });
    stateRoot = mkdtempSync(join(tmpdir(), 'goondan-change-'));
    swarm = await startSwarm({ bundleFolder: bundle.folder, stateRoot, onLog: (line) => void lines.push(line) });
  });
  afterAll(async () => {
    await swarm.stop({ graceMs: 0 });
    bundle[Symbol.dispose]();
    rmSync(stateRoot, { recursive: true, force: true });
  });

  test('L-01 keeps process and memory of a part over a reorder, a neighbour’s config, another prompt and a new tool', async () => {
    const before = await lookAll();
    const { changed, agents } = await reload({
      extensions: ['neighbour', 'lock', 'probe'],
      word: 'two',
      prompt: 'Second.',
      tools: ['gate', 'second'],
    });
    expect(changed).toEqual(['Agent/clerk', 'Agent/cook']);
    expect(agents.find(({ agent }) => agent === 'clerk')).toEqual({
      agent: 'clerk',
      parts: [
        { identity: 'Extension/neighbour', fate: 'updated' },
        { identity: 'Extension/probe', fate: 'retained' },
        { identity: 'Tool/gate', fate: 'retained' },
        { identity: 'Tool/second', fate: 'added' },
        { identity: 'Prompt', fate: 'updated' },
      ],
      reordered: true,
      finishing: [],
    });
    const after = await lookAll();
    expect(lives(after)).toEqual(lives(before));
    expect(after.map(({ steps }) => steps.flat())).toEqual(conversations.map(() => ['gate__wait', 'second__wait']));

    // The changed part was registered once on trial for each agent, with the states of a conversation, and once in
    // each process.
    const pids = new Set(before.map(({ pid }) => pid));
    const onTrial = registered('two').filter(({ pid }) => !pids.has(pid));
    expect(onTrial.map(({ seen }) => seen)).toEqual([{ word: 'one' }, { word: 'one' }]);
    const inPlace = registered('two').filter(({ pid }) => pids.has(pid));
    expect(inPlace).toHaveLength(pids.size);
    expect(new Set(inPlace.map(({ pid }) => pid))).toEqual(pids);
    expect(lines.findLast(({ event }) => event === 'swarm.reloaded')?.data).toMatchObject({ changed, agents });
  });

  test('L-05 changes nothing in any process when a part throws in one of them after its trial', async () => {
    const before = await lookAll();
    const cook = before[2]?.pid;
    write('fail', String(cook));
    const error: unknown = await reload({ word: 'three', tools: ['gate', 'third'] }).catch((thrown: unknown) => thrown);
    rmSync(join(bundle.folder, 'fail'));
    expect(error).toMatchObject({
      code: 'E_RELOAD_FAILED',
      message: expect.stringMatching(
        /^Agent\/cook cannot take the change in conversation "default"\. E_EXT_INIT: .*not in this process/,
      ),
      place: { file: expect.stringContaining('neighbour.ts'), line: expect.any(Number) },
    });
    expect(registered('three').map(({ pid }) => pid)).toEqual(expect.arrayContaining([cook]));
    const after = await lookAll();
    expect(lives(after)).toEqual(lives(before));
    expect(after.map(({ steps }) => steps.flat())).toEqual(conversations.map(() => ['gate__wait', 'second__wait']));
    // A conversation that starts now has the old plan, too.
    const { steps } = await ask({ agent: 'clerk', instanceKey: 'later' });
    expect(steps.flat()).toEqual(['gate__wait', 'second__wait']);
    const refused = lines.findLast(({ event }) => event === 'swarm.reload_refused');
    expect(refused?.data).toMatchObject({ code: 'E_RELOAD_FAILED', place: { line: expect.any(Number) } });
    expect((await swarm.status()).changes?.[0]).toMatchObject({ error: { code: 'E_RELOAD_FAILED' } });
  });

  test('L-01 returns while a turn runs and names it; the next step of that turn has the new tool', async () => {
    const [one] = conversations;
    if (one === undefined) throw new Error('no conversation');
    const turn = ask(one, 'wait');
    await until(() => existsSync(join(bundle.folder, 'waits')));
    const { agents } = await reload({ word: 'two', tools: ['gate', 'second', 'third'] });
    expect(agents).toMatchObject([
      { agent: 'clerk', finishing: ['one'] },
      { agent: 'cook', finishing: [] },
    ]);
    write('open');
    const { steps } = await turn;
    expect(steps).toEqual([
      ['gate__wait', 'second__wait'],
      ['gate__wait', 'second__wait', 'third__wait'],
    ]);
  });

  test('L-01 replaces the process between turns for another environment or an exclusive part, and gives the reason', async () => {
    const before = await lookAll();
    const { agents } = await reload({ environment: 'two', lock: 'two' });
    expect(agents).toMatchObject([
      { agent: 'clerk', replaced: 'its environment has changed', finishing: [] },
      { agent: 'cook', replaced: expect.stringContaining('Extension/lock is exclusive') },
    ]);
    const after = await lookAll();
    expect(after.map(({ word }) => word)).toEqual(['two', 'two', undefined]);
    for (const [index, { pid, nonce }] of after.entries()) {
      expect(pid).not.toBe(before[index]?.pid ?? pid);
      expect(nonce).not.toBe(before[index]?.nonce ?? nonce);
    }
  });
});
