// Tests `isolation: agent` with real processes: conversations of one agent in a shared process.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import { testInProof } from '../../../test/samples.ts';
import type { InstanceStatus, Swarm } from './control/swarm.ts';
import type { LogLine } from './ports/log-line.ts';
import { startSwarm } from './start-swarm.ts';
import { type TemporaryBundle, temporaryBundle } from './testing/temporary-bundle.ts';
import { until } from '../../../test/until.ts';

setDefaultTimeout(15_000);

/** The number of turns in flight when the process is killed. In the proof it is that of the issue. */
const MANY = process.env.GOONDAN_SAMPLES === 'all' ? 50 : 4;

interface Options {
  readonly maxInstances?: number;
  readonly policy?: string;
  readonly extensions?: string;
  readonly word?: string;
}

const tools = ['wait', 'work', 'poison', 'spin'];

function yaml({ maxInstances = 200, policy = '', word = 'one', extensions = '' }: Options): string {
  const resources = [
    `kind: Model, metadata: { name: demo }, spec: { provider: scripted, model: demo, options: { script: [
      ${tools.map((name) => `{ when: "^${name} (?<key>\\\\S+)", call: { tool: gate__${name}, args: { key: "{{key}}" } } }`).join(', ')},
      { when: "^both (?<key>\\\\S+)", calls: [{ tool: gate__work, args: { key: "done-{{key}}" } }, { tool: gate__wait, args: { key: "{{key}}" } }] },
      { when: "^ask (?<key>\\\\S+)", call: { tool: agents__request, args: { target: clerk, instanceKey: "{{key}}", input: look } } },
      { say: "done {{input}}" }] } }`,
    `kind: Agent, metadata: { name: clerk }, spec: { isolation: agent, maxInstances: ${maxInstances}, prompt: { system: ${word} },
      modelConfig: { modelRef: Model/demo }, tools: [Tool/gate, Tool/agents], extensions: [Extension/probe, ${extensions}] }`,
    'kind: Extension, metadata: { name: probe }, spec: { entry: ./probe.ts }',
    `kind: Tool, metadata: { name: gate }, spec: { entry: ./gate.ts, exports: [${tools
      .map(
        (name) =>
          `{ name: ${name}, description: A tool., idempotent: ${name !== 'work'}, parameters: { type: object, properties: { key: { type: string } } } }`,
      )
      .join(', ')}] }`,
    `kind: Swarm, metadata: { name: shop }, spec: { entryAgent: Agent/clerk, agents: [Agent/clerk], workspace: shop, policy: { spares: 0, ${policy} } }`,
  ];
  return resources.map((resource) => `{ apiVersion: goondan.ai/v1, ${resource} }\n`).join('---\n');
}

/** Answers with the process, a nonce of the module, a count in the module's memory, and the state of the conversation. */
function probe(version: string): string {
  return `import { createAssistantMessage } from '@goondan/types';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
const nonce = crypto.randomUUID();
let turns = 0;
export async function register({ pipeline, state, logger }) {
  const own = crypto.randomUUID();
  const note = (what) => appendFileSync(join(import.meta.dirname, 'notes'), what + '\\n');
  const fail = join(import.meta.dirname, 'fail');
  if (existsSync(fail) && readFileSync(fail, 'utf8') === String(process.pid)) throw new Error('not in this process');
  pipeline.register('turn', async (ctx) => {
    turns += 1;
    const count = ((await state.get())?.count ?? 0) + 1;
    await state.set({ count });
    logger.info('heard ' + ctx.instanceKey);
    const result = await ctx.next();
    const said = result.finishReason;
    const about = { version: '${version}', nonce, own, turns, count, said, pid: process.pid, folder: process.cwd() };
    return { ...result, responseMessage: createAssistantMessage(JSON.stringify(about)) };
  });
  return () => note('cleaned up');
}
`;
}

// Each effect is noted when it is complete.
const gate = `import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const at = (name) => join(import.meta.dirname, name);
const note = (what) => appendFileSync(at('effects'), what + '\\n');
export const handlers = {
  work(_, { key }) { note(key); return 'worked'; },
  async wait(_, { key }) {
    writeFileSync(at('waits/' + key), '');
    while (!existsSync(at('open'))) await Bun.sleep(5);
    note(key);
    return 'opened';
  },
  async poison(_, { key }) {
    writeFileSync(at('waits/' + key), '');
    while (!existsSync(at('drunk'))) await Bun.sleep(5);
    appendFileSync(at('deaths'), key + '\\n');
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => {});
  },
  async spin(_, { key }) {
    writeFileSync(at('waits/' + key), '');
    appendFileSync(at('spins'), key + '\\n');
    for (;;);
  },
};
`;

interface Seen {
  readonly version: string;
  readonly nonce: string;
  readonly own: string;
  readonly turns: number;
  readonly count: number;
  readonly said: string;
  readonly pid: number;
  readonly folder: string;
}

class Shop implements AsyncDisposable {
  readonly lines: LogLine[] = [];
  private constructor(
    readonly bundle: TemporaryBundle,
    readonly stateRoot: string,
    public swarm: Swarm,
  ) {}

  static async open(options: Options = {}): Promise<Shop> {
    const bundle = temporaryBundle({ 'goondan.yaml': yaml(options), 'probe.ts': probe('first'), 'gate.ts': gate });
    mkdirSync(join(bundle.folder, 'waits'));
    const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-shared-'));
    const lines: LogLine[] = [];
    const swarm = await startSwarm({ bundleFolder: bundle.folder, stateRoot, onLog: (line) => void lines.push(line) });
    const shop = new Shop(bundle, stateRoot, swarm);
    Object.assign(shop, { lines });
    return shop;
  }

  async ask(instanceKey: string, input = 'look'): Promise<Seen> {
    return JSON.parse(textOf((await this.swarm.ask({ agent: 'clerk', instanceKey, input })).result.responseMessage));
  }

  write(name: string, text = ''): void {
    writeFileSync(join(this.bundle.folder, name), text);
  }

  read(name: string): string[] {
    const path = join(this.bundle.folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  }

  async waits(...keys: readonly string[]): Promise<void> {
    await until(() => keys.every((key) => existsSync(join(this.bundle.folder, 'waits', key))));
  }

  async instances(): Promise<readonly InstanceStatus[]> {
    return (await this.swarm.status()).instances;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.swarm.stop({ graceMs: 0 });
    this.bundle[Symbol.dispose]();
    rmSync(this.stateRoot, { recursive: true, force: true });
  }
}

function keysOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `k${index}`);
}

describe('isolation: agent', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await Shop.open({ maxInstances: 3 });
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  test('runs conversations in one process until it is full, and then starts the next', async () => {
    const seen = await Promise.all(['a', 'b', 'c', 'd'].map((key) => shop.ask(key)));
    const processes = Map.groupBy(seen, ({ pid }) => pid);
    const sizes = [...processes.values()].map((members) => members.length);
    expect(sizes.toSorted((left, right) => left - right)).toEqual([1, 3]);
    const status = await shop.instances();
    expect(new Set(status.map(({ pid }) => pid))).toEqual(new Set(processes.keys()));

    // The memory of the module and the folder are shared; registration and state are a conversation's own.
    const [first, ...others] = [...processes.values()].find((members) => members.length === 3) ?? [];
    for (const other of others) expect(other).toMatchObject({ nonce: first?.nonce, folder: first?.folder });
    expect(new Set(seen.map(({ own }) => own)).size).toBe(4);
    expect(seen.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
    expect(shop.lines.filter(({ message }) => message.startsWith('heard')).map(({ instance }) => instance)).toEqual(
      expect.arrayContaining(['a', 'b', 'c', 'd']),
    );
    expect((await shop.ask('a')).count).toBe(2);
  });

  test('answers a request of one conversation to another of the same process', async () => {
    expect((await shop.ask('a', 'ask b')).said).toBe('text_response');
    expect((await shop.ask('b')).count).toBe(3);
  });

  test('refuses a conversation that asks itself', async () => {
    expect((await shop.ask('c', 'ask c')).said).toBe('text_response');
    expect((await shop.ask('c')).count).toBe(3);
  });

  test('resets, forks and deletes one conversation, and leaves its neighbours in their process', async () => {
    const before = await shop.ask('b');
    await shop.swarm.restart({ agent: 'clerk', instanceKey: 'a', fresh: true });
    expect((await shop.ask('a')).count).toBe(1);
    await shop.swarm.forkInstance({ agent: 'clerk', instanceKey: 'b', as: 'f' });
    expect((await shop.ask('f')).count).toBe(before.count + 1);
    await shop.swarm.deleteInstance({ agent: 'clerk', instanceKey: 'f' });
    expect((await shop.swarm.instances()).map(({ instanceKey }) => instanceKey)).not.toContain('f');
    const { own, pid } = await shop.ask('b');
    expect({ own, pid }).toEqual({ own: before.own, pid: before.pid });
  });

  test('cancels the turn of one conversation', async () => {
    const cancelled = shop.swarm.ask({ agent: 'clerk', instanceKey: 'a', input: 'wait cancel' });
    const neighbour = shop.ask('b', 'wait stays');
    await shop.waits('cancel', 'stays');
    expect(await shop.swarm.cancel({ agent: 'clerk', instanceKey: 'a' })).toBe(true);
    expect((await cancelled).result.finishReason).toBe('error');
    shop.write('open');
    expect((await neighbour).said).toBe('text_response');
  });
});

describe('a crash of a shared process', () => {
  test(`interrupts ${MANY} turns: all go on, and no completed effect happens twice`, async () => {
    await using shop = await Shop.open();
    const keys = keysOf(MANY);
    const asked = keys.map((key) => shop.ask(key, `both ${key}`));
    await shop.waits(...keys);
    const [pid, ...others] = new Set((await shop.instances()).map((each) => each.pid));
    expect(others).toEqual([]);
    process.kill(pid ?? 0, 'SIGKILL');
    shop.write('open');
    const seen = await Promise.all(asked);
    expect(seen.map(({ said }) => said)).toEqual(keys.map(() => 'text_response'));
    expect(new Set(seen.map((each) => each.pid)).size).toBe(MANY);
    expect(shop.read('effects').toSorted()).toEqual([...keys.map((key) => `done-${key}`), ...keys].toSorted());
    expect(await shop.swarm.deadLetters()).toEqual([]);
    const told = shop.lines.filter(({ message }) => message.startsWith(`Process ${pid}`));
    expect(told).toMatchObject([{ level: 'warn', data: { signal: 'SIGKILL', conversations: MANY, turns: MANY } }]);

    // Each left the process that it had for itself; the next turns share one again.
    await until(async () => (await shop.instances()).length === 0);
    const after = await Promise.all(keys.map((key) => shop.ask(key)));
    expect(new Set(after.map((each) => each.pid)).size).toBe(1);
  });

  test(`makes a dead letter of the one poison input among ${MANY}, and of no neighbour`, async () => {
    await using shop = await Shop.open({ policy: 'crashesBeforeDeadLetter: 2' });
    const keys = keysOf(MANY);
    const asked = keys.map((key, index) => shop.ask(key, index === 2 ? `poison ${key}` : `wait ${key}`));
    await shop.waits(...keys);
    shop.write('drunk');
    shop.write('open');
    const ends = await Promise.all(asked.map((each) => each.catch(() => undefined)));
    expect(ends.flatMap((end, index) => (end?.said === 'text_response' ? [] : [keys[index]]))).toEqual(['k2']);
    const letters = await shop.swarm.deadLetters();
    expect(letters.map(({ instanceKey, crashes }) => ({ instanceKey, crashes }))).toEqual([
      { instanceKey: 'k2', crashes: 2 },
    ]);
    // Once with its neighbours, which does not count, and twice alone.
    expect(shop.read('deaths')).toEqual(['k2', 'k2', 'k2']);
    expect(shop.read('effects').toSorted()).toEqual(keys.filter((key) => key !== 'k2').toSorted());
  });

  // In `npm test`, orchestrator/instances/shared-seats.test.ts has the same rule.
  testInProof(
    'leaves the processes of interrupted turns within maxProcesses, although another shared process has room',
    async () => {
      await using shop = await Shop.open({ maxInstances: 2, policy: 'maxProcesses: 2' });
      const keys = keysOf(3);
      const asked = keys.map((key) => shop.ask(key, `wait ${key}`));
      await shop.waits(...keys);
      const byPid = Map.groupBy(await shop.instances(), ({ pid = 0 }) => pid);
      const [full = 0] = [...byPid].find(([, members]) => members.length === 2) ?? [];
      process.kill(full, 'SIGKILL');
      const working = async () => (await shop.instances()).filter(({ status }) => status === 'working');
      await until(async () => (await working()).length === 2 && !(await working()).some(({ pid }) => pid === full));
      expect((await shop.instances()).map(({ pid }) => pid).filter((pid) => pid !== undefined)).toHaveLength(2);
      shop.write('open');
      expect((await Promise.all(asked)).map(({ said }) => said)).toEqual(keys.map(() => 'text_response'));
    },
  );

  // In `npm test`, orchestrator/supervision/shared-crash.test.ts has the same rule.
  testInProof(
    'a conversation that hangs takes its neighbours along, and only its own input becomes a dead letter',
    async () => {
      await using shop = await Shop.open({
        policy: 'crashesBeforeDeadLetter: 1, heartbeat: { everyMs: 200, missedPings: 2 }',
      });
      const neighbour = shop.ask('good', 'wait good');
      await shop.waits('good');
      const hung = shop.ask('bad', 'spin bad').catch(() => undefined);
      await until(() => shop.read('spins').length === 2);
      shop.write('open');
      expect((await neighbour).said).toBe('text_response');
      await hung;
      expect((await shop.swarm.deadLetters()).map(({ instanceKey }) => instanceKey)).toEqual(['bad']);
      expect(shop.read('effects')).toEqual(['good']);
    },
  );
});

describe('the conversations of a shared process', () => {
  test('hibernate one by one, and the process ends with the last', async () => {
    await using shop = await Shop.open({ policy: 'idle: { hibernateAfterSeconds: 0.3 }' });
    const waiting = shop.ask('busy', 'wait busy');
    await shop.waits('busy');
    const { pid } = await shop.ask('idle');
    await until(async () => (await shop.instances()).length === 1);
    expect(shop.read('notes').filter((note) => note === 'cleaned up')).toHaveLength(1);
    // Neither the neighbour nor its process has noticed.
    expect((await shop.instances())[0]).toMatchObject({ instanceKey: 'busy', pid, status: 'working' });
    shop.write('open');
    expect((await waiting).pid).toBe(pid);
    await until(async () => (await shop.instances()).length === 0);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect((await shop.ask('idle')).count).toBe(2);
  });

  test('all take a change at their own step, share the changed module, and keep their process', async () => {
    await using shop = await Shop.open();
    const before = await Promise.all(['a', 'b', 'c'].map((key) => shop.ask(key)));
    const waiting = shop.ask('d', 'wait d');
    await shop.waits('d');
    shop.write('probe.ts', probe('second'));
    await shop.swarm.reload();
    shop.write('open');
    await waiting;
    const after = await Promise.all(['a', 'b', 'c', 'd', 'new'].map((key) => shop.ask(key)));
    expect(after.map(({ version }) => version)).toEqual(['second', 'second', 'second', 'second', 'second']);
    expect(new Set(after.map(({ nonce }) => nonce)).size).toBe(1);
    expect(new Set([...before, ...after].map(({ pid }) => pid)).size).toBe(1);
    expect(after.map(({ count }) => count)).toEqual([2, 2, 2, 2, 1]);
  });

  test('take no change that one of them cannot take, and new conversations then get another process', async () => {
    await using shop = await Shop.open();
    const before = await Promise.all(['a', 'b'].map((key) => shop.ask(key)));
    shop.write('fail', String(before[0]?.pid));
    shop.write('probe.ts', probe('second'));
    expect(await shop.swarm.reload().catch((error: unknown) => error)).toMatchObject({ code: 'E_RELOAD_FAILED' });
    shop.write('probe.ts', probe('first'));
    const after = await Promise.all(['a', 'b'].map((key) => shop.ask(key)));
    expect(after.map(({ nonce, own, pid }) => ({ nonce, own, pid }))).toEqual(
      before.map(({ nonce, own, pid }) => ({ nonce, own, pid })),
    );
    const late = await shop.ask('late');
    expect(late.version).toBe('first');
    expect(late.pid).not.toBe(before[0]?.pid);
  });

  test('wait for people on their own, also after a crash of their process', async () => {
    await using shop = await Shop.open({
      extensions:
        '{ ref: { kind: Extension, name: approval, package: "@goondan/base" }, config: { rules: [{ tool: gate__work, then: ask }] } }',
    });
    const asked = ['a', 'b'].map((key) => shop.ask(key, `work ${key}`));
    await until(async () => (await shop.swarm.questions()).length === 2);
    expect((await shop.ask('c')).said).toBe('text_response');
    process.kill((await shop.instances())[0]?.pid ?? 0, 'SIGKILL');
    await until(async () => (await shop.instances()).filter(({ status }) => status === 'working').length === 2);
    for (const { id } of await shop.swarm.questions()) await shop.swarm.answer({ id, decision: 'approved', by: 'ann' });
    expect((await Promise.all(asked)).map(({ said }) => said)).toEqual(['text_response', 'text_response']);
    expect(shop.read('effects').toSorted()).toEqual(['a', 'b']);
  });

  test('make room for others when every slot and every seat is taken, while a neighbour works', async () => {
    await using shop = await Shop.open({ maxInstances: 2, policy: 'maxProcesses: 1' });
    const busy = shop.ask('busy', 'wait busy');
    await shop.waits('busy');
    const seen = [];
    for (const key of keysOf(3)) seen.push(await shop.ask(key));
    const again = await Promise.all(keysOf(3).map((key) => shop.ask(key)));
    shop.write('open');
    const { pid } = await busy;
    expect([...seen, ...again].map((each) => [each.count, each.pid])).toEqual(
      [1, 1, 1, 2, 2, 2].map((count) => [count, pid]),
    );
  });

  test('finish their turns when the swarm stops', async () => {
    const shop = await Shop.open();
    const asked = keysOf(3).map((key) => shop.ask(key, `wait ${key}`));
    await shop.waits(...keysOf(3));
    const stopped = shop.swarm.stop({ graceMs: 20_000 });
    shop.write('open');
    expect((await Promise.all(asked)).map(({ said }) => said)).toEqual([
      'text_response',
      'text_response',
      'text_response',
    ]);
    await stopped;
    expect(shop.read('notes').filter((note) => note === 'cleaned up')).toHaveLength(3);
    await shop[Symbol.asyncDispose]();
  });
});
