// Tests with real processes: the bundled runner, started as the orchestrator starts it, on a real disk.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, textOf, type TurnResult } from '@goondan/types';
import type { AgentStart } from '../config/agent-start.ts';
import { agentLanguage } from '../ipc/codec.ts';
import type { FromAgent } from '../ipc/from-agent.ts';
import { killTagged } from '../orchestrator/guardian/kill-tagged.ts';
import { newTag } from '../orchestrator/guardian/process-tag.ts';
import { agentRunner } from '../ports/runner-path.ts';
import type { ChildOutput } from '../ipc/spawn.ts';
import { spawnChild } from '../orchestrator/child/spawn-child.ts';
import { extensionFile } from '../testing/index.ts';
import { inputEvent } from '../testing/input-event.ts';
import { durableStore } from '../workspace/journal/durable-store.ts';

const runTag = newTag('GOONDAN_RUN');
let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-main-')));
  mkdirSync(join(folder, 'state/workspaces/main-test'), { recursive: true });
});
afterAll(async () => {
  expect((await killTagged(runTag)).ended).toEqual([]);
  rmSync(folder, { recursive: true });
});

type Kind = FromAgent['type'];
type Of<Type extends Kind> = Extract<FromAgent, { readonly type: Type }>;

/** Starts a process of the bundled runner, and collects everything it sends. */
function launch() {
  const cwd = join(folder, crypto.randomUUID());
  mkdirSync(cwd);
  const frameFolder = join(folder, crypto.randomUUID());
  const output: ChildOutput[] = [];
  const onOutput = (each: ChildOutput) => void output.push(each);
  const request = { name: 'agent a/default', runner: agentRunner, frameFolder, onOutput };
  const child = spawnChild({ runTag }, agentLanguage, request);
  const said: FromAgent[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  child.channel.onMessage((message) => {
    said.push(message);
    wake();
  });
  void child.exited.then(wake);

  /** Returns the next message of this type that was not returned before. */
  const asked = new Map<Kind, number>();
  function next<Type extends Kind>(type: Type): Promise<Of<Type>> {
    const index = asked.get(type) ?? 0;
    asked.set(type, index + 1);
    return new Promise((resolve, reject) => {
      const look = () => {
        // The cast is safe: the messages are filtered by their type.
        const found = said.filter((message) => message.type === type)[index] as Of<Type> | undefined;
        if (found === undefined && !child.channel.isClosed) return;
        waiting.delete(look);
        if (found !== undefined) return resolve(found);
        const printed = output.map((each) => ('text' in each ? each.text : ''));
        reject(new Error(`It said no "${type}": ${JSON.stringify(said)} ${printed.join('\n')}`));
      };
      waiting.add(look);
      child.channel.onClose(look);
      look();
    });
  }
  const { channel, exited } = child;
  return { child, cwd, channel, exited, said, output, next, send: channel.send.bind(channel) };
}

interface Plan {
  readonly agent?: Partial<AgentStart['agent']>;
  readonly key?: string;
  readonly cwd: string;
}

function plan({ agent = {}, key = 'default', cwd }: Plan): JsonObject {
  const start: AgentStart = {
    address: { agentName: 'tester', instanceKey: key },
    agent: { agentName: 'tester', models: scripted([{ say: 'You said: {{input}}' }]), ...agent },
    agents: [{ name: 'tester' }, { name: 'other' }],
    store: { stateRoot: join(folder, 'state'), workspaceId: 'main-test' },
    cwd,
  };
  // The cast is safe: `AgentStart` contains only JSON.
  return start as unknown as JsonObject;
}

function scripted(script: JsonObject[]): AgentStart['agent']['models'] {
  return { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } };
}

const event = (id: string, instanceKey = 'default') => inputEvent(id, { instanceKey });

/** Starts a process with this agent, and waits until it is ready. */
async function ready(declared: Partial<AgentStart['agent']>, key: string) {
  const agent = launch();
  await agent.send({ type: 'start', plan: plan({ agent: declared, key, cwd: agent.cwd }) });
  await agent.next('ready');
  return agent;
}

const answerOf = ({ responseMessage }: TurnResult) => textOf(responseMessage);

/** Writes a module of a bundle, in a folder without a `node_modules` folder above it. */
function extension(source: string, name = 'ext') {
  const root = join(folder, crypto.randomUUID());
  mkdirSync(root);
  writeFileSync(join(root, 'index.ts'), source);
  return extensionFile(name, root, './index.ts');
}

describe('an agent in its own process', () => {
  test('starts the agent of its plan, and answers turn after turn', async () => {
    const agent = launch();
    await agent.send({ type: 'start', plan: plan({ cwd: agent.cwd }) });
    expect(await agent.next('ready')).toEqual({ type: 'ready', extensions: [], layers: [], tools: [] });
    for (const [index, id] of ['one', 'two'].entries()) {
      await agent.send({ type: 'turn', event: event(id), seq: index + 1 });
      const { eventId, result, stepCount, usage } = await agent.next('turn.done');
      expect({ eventId, stepCount, answer: answerOf(result) }).toEqual({
        eventId: id,
        stepCount: 1,
        answer: `You said: text of ${id}`,
      });
      expect(usage.totalTokens).toBeGreaterThan(0);
    }
    await agent.send({ type: 'drain', graceMs: 5_000 });
    await agent.next('drained');
    expect(await agent.exited).toMatchObject({ code: 0, signal: null });
    const journal = await durableStore({ stateRoot: join(folder, 'state'), workspaceId: 'main-test' });
    const { messages } = await journal.read({ agentName: 'tester', instanceKey: 'default' });
    expect(messages).toHaveLength(4);
  });

  test('moves to the given folder, wherever it was started', async () => {
    const agent = launch();
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    const telling = extension(`export const register = (api) => api.logger.info(process.cwd());`);
    await agent.send({ type: 'start', plan: plan({ agent: { extensions: [telling] }, key: 'cwd', cwd: elsewhere }) });
    expect((await agent.next('log')).line.message).toBe(elsewhere);
    await agent.child.kill(0);
  });

  test('reports why a start failed, and ends', async () => {
    const agent = launch();
    await agent.send({ type: 'start', plan: plan({ key: 'nowhere', cwd: join(folder, 'not-there') }) });
    expect((await agent.next('start.failed')).error).toMatchObject({ code: 'E_AGENT_START' });
    expect(await agent.exited).toMatchObject({ code: 1 });
  });

  test('L-01 changes in place between two steps: new files are loaded anew, and a retained part keeps its memory', async () => {
    const agent = launch();
    const root = join(folder, 'changing');
    mkdirSync(root);
    const declare = (name: string, version: number, files: readonly string[]) => {
      const resource = { ...extension('', name).resource, spec: { entry: `./${name}.ts` } };
      return { resource, root, files, digest: `${name} ${version}` };
    };
    const writeChanging = (version: number) => {
      writeFileSync(join(root, 'helper.ts'), `export const version: number = ${version};`);
      writeFileSync(
        join(root, 'changing.ts'),
        `import { version } from './helper.ts';
        export function register(api) {
          if (version === 2) throw new Error('There is no version 2.');
          api.pipeline.register('step', async (ctx) => (api.logger.info('step v' + version), ctx.next()));
          return () => api.logger.info('bye v' + version);
        }`,
      );
      return declare('changing', version, ['changing.ts', 'helper.ts']);
    };
    writeFileSync(
      join(root, 'kept.ts'),
      `export function register(api) {
        let steps = 0;
        api.pipeline.register('step', async (ctx) => (api.logger.info('kept ' + ++steps), ctx.next()));
      }`,
    );
    const kept = declare('kept', 1, ['kept.ts']);
    const declared = (version: number) => ({ bundleFolder: root, extensions: [writeChanging(version), kept] });
    await agent.send({ type: 'start', plan: plan({ agent: declared(1), key: 'change', cwd: agent.cwd }) });
    // The cast is safe: a declared agent contains only JSON.
    const wanted = (version: number) =>
      ({ agentName: 'tester', models: scripted([{ say: 'x' }]), ...declared(version) }) as unknown as JsonObject;
    await agent.next('ready');
    await agent.send({ type: 'change.prepare', change: 1, plan: wanted(2) });
    const failed = await agent.next('change.failed');
    expect(failed).toMatchObject({ change: 1, error: { code: 'E_EXT_INIT', place: { file: 'changing.ts', line: 3 } } });
    for (const [index, version] of [3, 4, 5].entries()) {
      await agent.send({ type: 'turn', event: event(`turn-${index}`, 'change'), seq: index + 1 });
      await agent.next('turn.done');
      await agent.send({ type: 'change.prepare', change: version, plan: wanted(version) });
      expect(await agent.next('change.ready')).toEqual({ type: 'change.ready', change: version });
      await agent.send({ type: 'change.swap', change: version });
      expect(await agent.next('change.swapped')).toEqual({ type: 'change.swapped', change: version });
      expect((await agent.next('described')).extensions).toEqual(['changing', 'kept']);
    }
    await agent.send({ type: 'change.prepare', change: 6, plan: wanted(6) });
    await agent.next('change.ready');
    await agent.send({ type: 'change.drop', change: 6 });
    await agent.send({ type: 'turn', event: event('last', 'change'), seq: 4 });
    await agent.next('turn.done');
    await agent.send({ type: 'drain', graceMs: 5_000 });
    await agent.next('drained');
    const lines = agent.said.flatMap((each) =>
      each.type === 'log' && each.line.level === 'info' ? each.line.message : [],
    );
    expect(lines.filter((line) => line.startsWith('kept'))).toEqual(['kept 1', 'kept 2', 'kept 3', 'kept 4']);
    expect(lines.filter((line) => line.startsWith('step'))).toEqual(['step v1', 'step v3', 'step v4', 'step v5']);
    expect(lines.filter((line) => line.startsWith('bye'))).toEqual(['bye v1', 'bye v3', 'bye v4', 'bye v6', 'bye v5']);
    expect(await agent.exited).toMatchObject({ code: 0 });
  });

  test('loads its models and schemas when they are needed', async () => {
    const agent = launch();
    const root = join(folder, 'tools');
    mkdirSync(root);
    writeFileSync(join(root, 'add.ts'), `export const handlers = { two: (_, { a, b }) => a + b };`);
    const parameters = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    const tool = { name: 'add', root, entry: './add.ts', exports: [{ name: 'two', description: 'x', parameters }] };
    const models = {
      ...scripted([
        { when: 'good', call: { tool: 'add__two', args: { a: 1, b: 2 } } },
        { when: 'bad', call: { tool: 'add__two', args: { a: 'one' } } },
        { afterTool: 'add__two', say: '{{result}}{{result.error.code}}' },
      ]),
      'Model/other': { provider: 'openai-compatible', model: 'x', endpoint: 'http://127.0.0.1:9/v1', apiKey: 'none' },
    };
    const asking = extension(`
      export function register(api) {
        api.pipeline.register('turn', async (ctx) => {
          if (ctx.inputEvent.input === 'good') {
            const request = { modelRef: 'Model/other', messages: [{ role: 'user', content: 'x' }] };
            await ctx.model.generate(request).catch((error) => api.logger.info(error.code));
          }
          return ctx.next();
        });
      }`);
    const declared = { models, modelRef: 'Model/m', tools: [tool], extensions: [asking] };
    await agent.send({ type: 'start', plan: plan({ agent: declared, key: 'lazy', cwd: agent.cwd }) });
    expect((await agent.next('ready')).tools).toEqual(['add__two']);
    await agent.send({ type: 'turn', event: { ...event('1', 'lazy'), input: 'good' }, seq: 1 });
    expect(answerOf((await agent.next('turn.done')).result)).toStartWith('3');
    await agent.send({ type: 'turn', event: { ...event('2', 'lazy'), input: 'bad' }, seq: 2 });
    expect(answerOf((await agent.next('turn.done')).result)).toEndWith('E_TOOL_ARGUMENTS');
    // This error shows that the provider's package was loaded. Nothing listens at its port.
    expect((await agent.next('log')).line.message).toStartWith('E_MODEL_');
    await agent.child.kill(0);
  });
});

describe('code of a bundle', () => {
  test('imports our packages from a folder without node_modules, and its errors are ours', async () => {
    const agent = launch();
    const telling = extension(`
      import { GoondanError, createUserMessage, errorCatalogue } from '@goondan/types';
      import * as core from '@goondan/core';
      export function register(api) {
        api.logger.info(String(core.GoondanError === GoondanError && typeof createUserMessage === 'function'));
        throw new GoondanError('E_EXT_CONFIG', 'an error of this very class');
      }`);
    await agent.send({ type: 'start', plan: plan({ agent: { extensions: [telling] }, key: 'types', cwd: agent.cwd }) });
    expect((await agent.next('log')).line.message).toBe('true');
    // The code shows that the runner recognises the error. Otherwise it would be wrapped as E_EXT_INIT.
    expect((await agent.next('start.failed')).error).toMatchObject({ code: 'E_EXT_CONFIG' });
    await agent.exited;
  });

  test('does not disturb the channel with anything it prints', async () => {
    const printing = extension(`
      export function register(api) {
        api.pipeline.register('turn', (ctx) => {
          console.log('{"type":"turn.done"}');
          console.error('{"type":"drained"}');
          process.stdout.write('x'.repeat(100_000));
          return ctx.next();
        });
      }`);
    const agent = await ready({ extensions: [printing] }, 'print');
    await agent.send({ type: 'turn', event: event('1', 'print'), seq: 1 });
    expect((await agent.next('turn.done')).result.finishReason).toBe('text_response');
    expect(agent.said.filter(({ type }) => type === 'drained')).toEqual([]);
    await agent.child.kill(0);
    expect(agent.output).toContainEqual({ kind: 'line', stream: 'stdout', text: '{"type":"turn.done"}' });
  });

  const secret = 'correct-horse-battery';
  const undefinedName = /^Uncaught error: rulez is not defined$/;
  const place = { place: { file: 'index.ts', line: 4 }, data: { stack: expect.stringContaining('.ts:4:') } };
  test.each<[what: string, code: string, message: RegExp, more: object]>([
    [
      'an error thrown in a timer',
      `setTimeout(() => { throw new TypeError('on the side ${secret}'); }, 0);`,
      /on the side \*\*\*/,
      place,
    ],
    ['a wrong name in a timer', `setTimeout(() => { rulez(); }, 1);`, undefinedName, place],
    ['a dropped promise', `void (async () => { await 1; rulez(); })();`, undefinedName, place],
    ['an unhandled rejection', `void Promise.reject(new Error('nobody ${secret}'));`, /nobody \*\*\*/, place],
    ['a thrown text', `setTimeout(() => { throw 'just words'; }, 0);`, /just words/, {}],
    ['a thrown null', `setTimeout(() => { throw null; }, 0);`, /null/, {}],
    ['an object', `void Promise.reject({ reason: 'odd' });`, /odd/, {}],
  ])('%s ends its process, and its log has the error with its place', async (_, code, message, more) => {
    const failing = extension(`
      export function register(api: { pipeline: { register(kind: string, run: object): void } }): void {
        api.pipeline.register('turn', async (ctx: { next(): Promise<unknown> }) => {
          ${code}
          await Bun.sleep(60_000);
          return ctx.next();
        });
      }`);
    const { root: bundleFolder } = failing;
    const key = crypto.randomUUID();
    const agent = await ready({ extensions: [failing], bundleFolder, secrets: [secret] }, key);
    await agent.send({ type: 'turn', event: event('1', key), seq: 1 });
    const { line } = await agent.next('log');
    expect(line).toMatchObject({
      level: 'error',
      event: 'process.uncaught',
      message: expect.stringMatching(message),
      ...more,
    });
    expect(JSON.stringify(line)).not.toContain(bundleFolder);
    expect(await agent.exited).toMatchObject({ code: 1, signal: null });
    expect(JSON.stringify(agent.said)).not.toContain(secret);
    expect(agent.said.filter(({ type }) => type === 'turn.done')).toEqual([]);
  });

  test.each([
    ['process.exit(7)', 7],
    ['process.exit()', 0],
  ])('R-03 just ends when it calls %s; the next process resumes the turn', async (call, code) => {
    const key = crypto.randomUUID();
    const leaving = extension(`
      export function register(api) {
        api.pipeline.register('turn', (ctx) => { if (!ctx.resumed) ${call}; return ctx.next(); });
      }`);
    const start = async () => {
      const agent = launch();
      await agent.send({ type: 'start', plan: plan({ agent: { extensions: [leaving] }, key, cwd: agent.cwd }) });
      await agent.next('ready');
      await agent.send({ type: 'turn', event: event('1', key), seq: 1 });
      return agent;
    };
    expect(await (await start()).exited).toMatchObject({ code });
    const second = await start();
    expect(answerOf((await second.next('turn.done')).result)).toBe('You said: text of 1');
    await second.child.kill(0);
  });
});

describe('the end of a process', () => {
  /** Creates an extension that writes to a file when it is cleaned up, after a short wait. */
  const cleaning = (file: string) =>
    extension(`
      import { appendFileSync } from 'node:fs';
      const note = async (what) => { await Bun.sleep(30); appendFileSync(${JSON.stringify(file)}, what + ' '); };
      process.on('beforeExit', () => note('module'));
      export function register(api) {
        process.on('beforeExit', () => note('beforeExit'));
        api.pipeline.register('turn', async (ctx) => {
          process.on('beforeExit', () => note('layer'));
          api.logger.info('begun');
          await Bun.sleep(200);
          return ctx.next();
        });
        return () => note('cleanup');
      }`);

  test.each([
    ['X-17 a drain', (agent: ReturnType<typeof launch>) => agent.send({ type: 'drain', graceMs: 10_000 })],
    ['X-17 SIGTERM', async (agent: ReturnType<typeof launch>) => void process.kill(agent.child.pid, 'SIGTERM')],
  ])('%s finishes the turn, cleans up and ends the process', async (_, ask) => {
    const key = crypto.randomUUID();
    const file = join(folder, `${key}.log`);
    const agent = await ready({ extensions: [cleaning(file)] }, key);
    await agent.send({ type: 'turn', event: event('1', key), seq: 1 });
    await agent.next('log');
    await ask(agent);
    expect(await agent.exited).toMatchObject({ code: 0, signal: null, leftBehind: 0 });
    expect(readFileSync(file, 'utf8')).toBe('cleanup module beforeExit layer ');
    expect(agent.said.slice(-2).map(({ type }) => type)).toEqual(['turn.done', 'drained']);
  });

  test('SIGINT does not end it: the orchestrator decides', async () => {
    const agent = await ready({}, 'int');
    process.kill(agent.child.pid, 'SIGINT');
    await agent.send({ type: 'turn', event: event('1', 'int'), seq: 1 });
    await agent.next('turn.done');
    await agent.child.kill(0);
  });

  test('comes at once when its orchestrator is gone, even during a turn', async () => {
    const models = {
      'Model/m': { provider: 'scripted', model: 'm', options: { script: [{ say: 'x' }], latencyMs: 60_000 } },
    };
    const agent = await ready({ models }, 'alone');
    await agent.send({ type: 'watch', kinds: ['runtime.event'] });
    await agent.send({ type: 'turn', event: event('1', 'alone'), seq: 1 });
    await agent.next('runtime.event');
    agent.channel.close();
    expect(await agent.exited).toMatchObject({ code: 1, signal: null });
  });

  test('comes when a spare is drained', async () => {
    const spare = launch();
    await spare.send({ type: 'drain', graceMs: 1_000 });
    await spare.next('drained');
    expect(await spare.exited).toMatchObject({ code: 0 });
  });
});
