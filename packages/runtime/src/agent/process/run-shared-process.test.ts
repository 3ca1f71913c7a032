// Tests the program of a shared process, with both ends of its channel in this process and a real disk.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError, type JsonObject } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import { agentLanguage } from '../../ipc/codec.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { type Seated, seatedLanguage } from '../../ipc/seated-language.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { agentStoreOf } from '../../store/files/open-agent-store.ts';
import { memoryBlobs } from '../../store/memory-blobs.ts';
import { connectInMemory } from '../../testing/connect-in-memory.ts';
import { firstTurn } from '../../testing/launch-agent-process.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import { runSharedProcess } from './run-shared-process.ts';
import { until } from '../../../../../test/until.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'shared-process-'));
});
afterAll(() => rmSync(root, { recursive: true }));

function startOf(instanceKey: string, agent: Partial<AgentStart['agent']>): Omit<AgentStart, 'store' | 'cwd'> {
  const script = [{ say: 'hello {{input}}' }];
  return {
    address: { agentName: 'clerk', instanceKey },
    agent: {
      agentName: 'clerk',
      models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
      ...agent,
    },
    agents: [],
    isNew: true,
  };
}

/** Writes an extension into the folder. `version`: its digest. */
function extensionIn(folder: string, version: string, code: string): Partial<AgentStart['agent']> {
  writeFileSync(join(folder, 'part.ts'), code);
  const metadata = { name: 'part' };
  const resource = {
    apiVersion: 'goondan.ai/v1',
    kind: 'Extension',
    metadata,
    spec: { entry: './part.ts' },
  } as const;
  return { extensions: [{ resource, root: folder, files: ['part.ts'], digest: version }] };
}

interface LaunchOptions {
  /** These replace the commits of the conversations with these keys. */
  readonly commits?: Readonly<Record<string, () => Promise<never>>>;
  /** These replace the functions of the store. */
  readonly acknowledge?: () => Promise<void>;
  readonly close?: () => Promise<void>;
  readonly beforeCommit?: () => Promise<void>;
  readonly beforeOpen?: () => void;
  readonly clock?: Clock;
}

/** Starts the process. */
function launch({
  commits = {},
  acknowledge,
  close,
  beforeCommit,
  beforeOpen,
  clock = systemClock,
}: LaunchOptions = {}) {
  const stateRoot = join(root, crypto.randomUUID());
  mkdirSync(stateRoot);
  const [parent, child] = connectInMemory(seatedLanguage(agentLanguage));
  const said: Seated<FromAgent>[] = [];
  const exits: number[] = [];
  const journals: Journal[] = [];
  let throwUncaught: (thrown: unknown) => void = () => undefined;
  let terminate: () => void = () => undefined;
  parent.onMessage((frame) => void said.push(frame));
  runSharedProcess(child, {
    clock,
    moveTo: () => undefined,
    warmUp: () => Promise.resolve(),
    async openStore(location, warn) {
      beforeOpen?.();
      const journal = await durableStore({ ...location, warn });
      journals.push(journal);
      const commit: Journal['commit'] = async (address, ...rest) => {
        await beforeCommit?.();
        return commits[address.instanceKey]?.() ?? journal.commit(address, ...rest);
      };
      const store = agentStoreOf({ ...journal, commit }, memoryBlobs());
      const answers = acknowledge ? { ...store.answers, acknowledge } : store.answers;
      return { ...store, answers, ...(close && { close }) };
    },
    answerOwnPackages: () => undefined,
    watchDraws: () => undefined,
    onTerminate: (listener) => void (terminate = listener),
    onUncaught: (listener) => void (throwUncaught = listener),
    exit: (code) => {
      exits.push(code);
      child.close();
    },
  });
  const send = (seat: number, message: ToAgent) => parent.send({ seat, message });
  const messages = (seat: number) =>
    said.flatMap((frame) => (frame.seat === seat && 'message' in frame ? [frame.message] : []));
  const exitsOf = (seat: number) =>
    said.flatMap((frame) => (frame.seat === seat && 'exit' in frame ? [frame.exit] : []));
  const exitOf = (seat: number) => until(() => exitsOf(seat)[0]);
  return {
    parent,
    send,
    exits,
    journals,
    stateRoot,
    messages,
    exitsOf,
    exitOf,
    throwUncaught: (thrown: unknown) => throwUncaught(thrown),
    terminate: () => terminate(),
    first: (seat: number, type: FromAgent['type'], index = 0) =>
      until(() => messages(seat).filter((message) => message.type === type)[index]),
    open: (seat: number, instanceKey: string, agent: Partial<AgentStart['agent']> = {}) => {
      const start = { ...startOf(instanceKey, agent), store: { stateRoot, workspaceId: 'test' }, cwd: stateRoot };
      // The cast is safe: `AgentStart` contains only JSON.
      return send(seat, { type: 'start', plan: start as unknown as JsonObject });
    },
    turn: (seat: number, instanceKey: string, id = 'e1') =>
      send(seat, { ...firstTurn, seq: Number(id.slice(1)), event: { ...firstTurn.event, id, instanceKey } }),
    [Symbol.asyncDispose]: async () => {
      parent.close();
      for (const journal of journals) await journal.close().catch(() => undefined);
    },
  };
}

const seats = [
  [1, 'a'],
  [2, 'b'],
] as const;

describe('a shared process', () => {
  test('runs conversations side by side, closes one alone, and ends when it is asked to', async () => {
    await using shared = launch();
    await Promise.all([shared.open(1, 'a'), shared.open(2, 'b')]);
    await Promise.all([shared.turn(1, 'a'), shared.turn(2, 'b')]);
    for (const seat of [1, 2]) expect(await shared.first(seat, 'turn.done')).toMatchObject({ eventId: 'e1' });
    await shared.send(1, { type: 'drain', graceMs: 1_000 });
    expect(await shared.exitOf(1)).toBe(0);
    expect(shared.messages(1).at(-1)).toEqual({ type: 'drained' });
    await shared.turn(2, 'b', 'e2');
    await shared.first(2, 'turn.done', 1);
    // The lock of the closed conversation is free.
    await shared.open(3, 'a');
    await shared.turn(3, 'a', 'e3');
    expect(await shared.first(3, 'turn.done')).toMatchObject({ result: { finishReason: 'text_response' } });
    expect(shared.exits).toEqual([]);
    await shared.send(0, { type: 'drain', graceMs: 1_000 });
    await until(() => shared.exits[0]);
    expect(shared.exits).toEqual([0]);
  });

  test('opens the store once for all its conversations, and closes it at its end', async () => {
    await using shared = launch();
    for (const [seat, key] of seats) {
      await shared.open(seat, key);
      await shared.turn(seat, key);
      await shared.first(seat, 'turn.done');
      await shared.send(seat, { type: 'drain', graceMs: 1_000 });
      await shared.exitOf(seat);
    }
    expect(shared.journals).toHaveLength(1);
    await shared.send(0, { type: 'drain', graceMs: 1_000 });
    await until(() => shared.exits[0]);
    // The lines of the index are gathered, and written when the store is closed.
    const index = readFileSync(join(shared.stateRoot, 'workspaces/test/instances.jsonl'), 'utf8').trim().split('\n');
    expect(index.map((line) => JSON.parse(line).instanceKey)).toEqual(['a', 'b']);
  });

  test('begins an event that was handed ahead in its own conversation, after the turn before it', async () => {
    await using shared = launch();
    await Promise.all([shared.open(1, 'a'), shared.open(2, 'b')]);
    for (const [seat, instanceKey] of seats) {
      await shared.turn(seat, instanceKey);
      const event = { ...firstTurn.event, id: 'e2', instanceKey };
      await shared.send(seat, { type: 'turn.ahead', event, seq: 2 });
    }
    for (const seat of [1, 2]) {
      expect(await shared.first(seat, 'turn.done')).toMatchObject({ eventId: 'e1', begins: 'e2' });
      expect(await shared.first(seat, 'turn.done', 1)).toMatchObject({ eventId: 'e2' });
    }
    expect(shared.exits).toEqual([]);
  });

  test('answers pings of the process', async () => {
    await using shared = launch();
    await shared.send(0, { type: 'ping', n: 4 });
    expect(await shared.first(0, 'pong')).toEqual({ type: 'pong', n: 4 });
  });

  test('a conversation that does not start leaves its seat, and its neighbour answers', async () => {
    await using shared = launch();
    await shared.open(1, 'good');
    await shared.open(2, 'bad', { modelRef: 'Model/missing' });
    expect(await shared.first(2, 'start.failed')).toMatchObject({ type: 'start.failed' });
    expect(await shared.exitOf(2)).toBe(1);
    await shared.turn(1, 'good');
    await shared.first(1, 'turn.done');
    expect(shared.exits).toEqual([]);
  });

  test('a conversation whose turn was lost leaves its seat, releases its lock, and its neighbour answers', async () => {
    const full = () => Promise.reject(new GoondanError('E_DISK_FULL', 'no room left'));
    const commits: Record<string, () => Promise<never>> = { bad: full };
    await using shared = launch({ commits });
    await Promise.all([shared.open(1, 'good'), shared.open(2, 'bad')]);
    await shared.turn(2, 'bad');
    expect(await shared.first(2, 'turn.lost')).toMatchObject({ error: { code: 'E_DISK_FULL' } });
    expect(await shared.exitOf(2)).toBe(1);
    // The next process of the conversation may be another one.
    const lock = join(shared.stateRoot, 'workspaces/test/instances/clerk~bad/lock');
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ owner: null });
    await shared.turn(1, 'good');
    await shared.first(1, 'turn.done');
    delete commits['bad'];
    await shared.open(3, 'bad');
    await shared.turn(3, 'bad');
    expect(await shared.first(3, 'turn.done')).toMatchObject({ result: { finishReason: 'text_response' } });
    expect(shared.exits).toEqual([]);
  });

  test('a conversation whose turn was lost leaves its seat while replies are still being acknowledged', async () => {
    const [committing, lost, acknowledged] = [0, 1, 2].map(() => Promise.withResolvers<void>());
    const commit = async () => {
      committing?.resolve();
      await lost?.promise;
      throw new GoondanError('E_DISK_FULL', 'no room left');
    };
    let acknowledgements = 0;
    const acknowledge = async () => {
      acknowledgements += 1;
      await acknowledged?.promise;
    };
    await using shared = launch({ commits: { a: commit }, acknowledge });
    await Promise.all([shared.open(1, 'a'), shared.open(2, 'b')]);
    await shared.turn(1, 'a');
    await committing?.promise;
    await shared.send(1, { type: 'reply.taken', eventId: 'old' });
    lost?.resolve();
    expect(await shared.exitOf(1)).toBe(1);
    acknowledged?.resolve();
    await shared.turn(2, 'b');
    await shared.first(2, 'turn.done');
    expect([acknowledgements, shared.exits]).toEqual([1, []]);
  });

  test('a conversation whose turn was lost acknowledges no further reply while it cleans up', async () => {
    const [committing, lost, acknowledging, acknowledged, cleaning, cleaned] = [0, 1, 2, 3, 4, 5].map(() =>
      Promise.withResolvers<void>(),
    );
    const commit = async () => {
      committing?.resolve();
      await lost?.promise;
      throw new GoondanError('E_DISK_FULL', 'no room left');
    };
    let acknowledgements = 0;
    const acknowledge = async () => {
      acknowledgements += 1;
      acknowledging?.resolve();
      await acknowledged?.promise;
    };
    Reflect.set(globalThis, 'cleanUpSlowly', async () => {
      cleaning?.resolve();
      await cleaned?.promise;
    });
    const code = 'export const register = () => () => globalThis.cleanUpSlowly();';
    await using shared = launch({ commits: { a: commit }, acknowledge });
    await shared.open(1, 'a', extensionIn(mkdtempSync(join(root, 'slow-')), 'one', code));
    await shared.open(2, 'b');
    await shared.turn(1, 'a');
    await committing?.promise;
    for (const eventId of ['old 1', 'old 2']) await shared.send(1, { type: 'reply.taken', eventId });
    lost?.resolve();
    await Promise.all([acknowledging?.promise, cleaning?.promise]);
    acknowledged?.resolve();
    // The neighbour runs a turn, so there is time for a further reply.
    await shared.turn(2, 'b');
    await shared.first(2, 'turn.done');
    expect(acknowledgements).toBe(1);
    cleaned?.resolve();
    expect(await shared.exitOf(1)).toBe(1);
    expect([acknowledgements, shared.exits]).toEqual([1, []]);
  });

  test('opens the store again for the next conversation, if it could not be opened', async () => {
    let isBroken = true;
    const opens = () => {
      if (isBroken) throw new GoondanError('E_STORE_READ', 'the disk is busy');
    };
    await using shared = launch({ beforeOpen: opens });
    await Promise.all([shared.open(1, 'a'), shared.open(2, 'b')]);
    await shared.turn(1, 'a');
    expect(await shared.first(1, 'turn.lost')).toMatchObject({ error: { code: 'E_STORE_READ' } });
    expect(await shared.exitOf(1)).toBe(1);
    isBroken = false;
    await shared.turn(2, 'b');
    expect(await shared.first(2, 'turn.done')).toMatchObject({ result: { finishReason: 'text_response' } });
    expect([shared.journals.length, shared.exits]).toEqual([1, []]);
  });

  test('a drain ends after its grace although an announced turn cannot begin', async () => {
    const [committing, committed, acknowledged] = [0, 1, 2].map(() => Promise.withResolvers<void>());
    const before = async () => {
      committing?.resolve();
      await committed?.promise;
    };
    await using shared = launch({ acknowledge: async () => acknowledged?.promise, beforeCommit: before });
    await shared.open(1, 'a');
    await shared.turn(1, 'a');
    await committing?.promise;
    await shared.send(1, { type: 'reply.taken', eventId: 'old' });
    const ahead = { ...firstTurn.event, id: 'e2', instanceKey: 'a' };
    await shared.send(1, { type: 'turn.ahead', seq: 2, event: ahead });
    committed?.resolve();
    expect(await shared.first(1, 'turn.done')).toMatchObject({ begins: 'e2' });
    await shared.send(1, { type: 'drain', graceMs: 50 });
    expect(await shared.first(1, 'log')).toMatchObject({ line: { event: 'drain.late' } });
    acknowledged?.resolve();
    expect(await shared.exitOf(1)).toBe(1);
    expect(shared.exits).toEqual([]);
  });

  test('loads a changed module once for all its conversations', async () => {
    const folder = mkdtempSync(join(root, 'module-'));
    const registered: string[] = [];
    Reflect.set(globalThis, 'registeredNonces', registered);
    const planOf = (version: string) =>
      extensionIn(
        folder,
        version,
        `const nonce = '${version} ' + crypto.randomUUID();
export const register = () => void globalThis.registeredNonces.push(nonce);`,
      );
    await using shared = launch();
    const before = planOf('one');
    for (const [seat, key] of seats) {
      await shared.open(seat, key, before);
      await shared.first(seat, 'ready');
    }
    const after = planOf('two');
    for (const seat of [1, 2]) {
      const { agent } = startOf('any', after);
      await shared.send(seat, { type: 'change.prepare', change: 1, plan: agent as unknown as JsonObject });
      await shared.first(seat, 'change.ready');
    }
    expect(registered.map((nonce) => nonce.split(' ')[0])).toEqual(['one', 'one', 'two', 'two']);
    expect(new Set(registered).size).toBe(2);
  });

  test('SIGTERM lets every conversation end as a drain does', async () => {
    await using shared = launch();
    await Promise.all([shared.open(1, 'a'), shared.open(2, 'b')]);
    for (const seat of [1, 2]) await shared.first(seat, 'ready');
    shared.terminate();
    expect(await Promise.all([shared.exitOf(1), shared.exitOf(2)])).toEqual([0, 0]);
    for (const seat of [1, 2]) expect(shared.messages(seat).at(-1)).toEqual({ type: 'drained' });
    expect(shared.exits).toEqual([]);
  });

  test('a process without its orchestrator ends at once', async () => {
    await using shared = launch();
    await shared.open(1, 'a');
    await shared.first(1, 'ready');
    shared.parent.close();
    expect(await until(() => shared.exits[0])).toBe(1);
  });

  test('a lost conversation that cannot be closed in time ends the process, so that nobody else opens it', async () => {
    const full = () => Promise.reject(new GoondanError('E_DISK_FULL', 'no room left'));
    const closing = Promise.withResolvers<void>();
    const close = async () => {
      closing.resolve();
      await new Promise(() => undefined);
    };
    const clock = manualClock();
    await using shared = launch({ commits: { a: full }, close, clock });
    await shared.open(1, 'a');
    await shared.turn(1, 'a');
    await closing.promise;
    await clock.advance(5_000);
    expect(await shared.first(0, 'log')).toMatchObject({ line: { level: 'error', event: 'conversation.stuck' } });
    await clock.advance(1_000);
    expect(await until(() => shared.exits[0])).toBe(1);
    // The conversation has not left its seat.
    expect(shared.exitsOf(1)).toEqual([]);
  });

  test.each<[what: string, event: string, message: string, act: (shared: ReturnType<typeof launch>) => void]>([
    [
      'an uncaught error',
      'process.uncaught',
      'Uncaught error: a timer failed',
      (shared) => shared.throwUncaught(new Error('a timer failed')),
    ],
    [
      'a frame that cannot be read',
      'frame.refused',
      'A message of the orchestrator was rejected: A frame is not JSON.',
      ({ parent }) => parent['wire'].write(Buffer.from('nonsense\n')),
    ],
  ])('%s ends the process, and the process itself says why', async (_, event, message, act) => {
    await using shared = launch();
    await shared.open(1, 'a');
    await shared.first(1, 'ready');
    act(shared);
    await until(() => shared.exits[0]);
    expect(shared.exits).toEqual([1]);
    expect(shared.messages(0)).toMatchObject([{ type: 'log', line: { level: 'error', event, message } }]);
  });
});
