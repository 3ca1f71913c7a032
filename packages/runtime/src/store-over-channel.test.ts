// Tests both ends of the store frames: the store of an agent process, and the orchestrator that serves it.
import { afterEach, describe, expect, test } from 'bun:test';
import { createUserMessage, GoondanError, type JsonObject } from '@goondan/types';
import { openIpcStore } from './agent/process/ipc-store.ts';
import { runAgentProcess } from './agent/process/run-agent-process.ts';
import { runSharedProcess } from './agent/process/run-shared-process.ts';
import type { AgentStart } from './config/agent-start.ts';
import { agentLanguage } from './ipc/codec.ts';
import type { FromAgent } from './ipc/from-agent.ts';
import { SeatChannel } from './ipc/seat-channel.ts';
import { seatedLanguage } from './ipc/seated-language.ts';
import type { ToAgent } from './ipc/to-agent.ts';
import { StoreServer, type StoreServerDeps } from './orchestrator/child/serve-store.ts';
import { systemClock } from './ports/clock.ts';
import { address, eventOf, otherAddress, resultOf, turnOf } from './testing/conformance/conformance.ts';
import { MemoryLogs } from './testing/conformance/memory-log.ts';
import { memoryAnswers, memoryInbox } from './testing/conformance/memory-seams.ts';
import { storeConformance } from './testing/conformance/store-conformance.ts';
import { connectInMemory } from './testing/connect-in-memory.ts';
import { firstTurn } from './testing/launch-agent-process.ts';
import { memoryFrameFiles } from './testing/memory-frame-files.ts';
import { memoryBlobs } from './store/memory-blobs.ts';
import { rejectionOf } from './workspace/simulation/rejection-of.ts';
import { until } from '../../../test/until.ts';

const ports = { clock: systemClock, warn: () => undefined };
const hello = createUserMessage('hello');
const delta = { type: 'append', messages: [hello] } as const;
const ended: (() => void)[] = [];
afterEach(() => ended.splice(0).forEach((end) => end()));

interface KeptLines {
  readonly traces: string[];
  readonly events: JsonObject[];
}

const node = { name: 'one', machine: 'm1' };

/** Makes a node that owns these instances. */
function nodeOf(logs: MemoryLogs, more: Partial<StoreServerDeps['store']> = {}) {
  for (const instance of [address, otherAddress]) logs.claim(instance, 'one');
  const lines: KeptLines = { traces: [], events: [] };
  const reports: unknown[] = [];
  const server = new StoreServer({
    store: {
      log: logs.at('one'),
      placement: { takeNewEpoch: () => 7 },
      answers: memoryAnswers(logs.swarm),
      blobs: memoryBlobs(),
      traceSink: {
        open: async () => ({
          append: async (all) => void lines.traces.push(...all.map((line) => line.text() ?? '')),
          close: async () => undefined,
        }),
      },
      eventSink: {
        open: async () => ({ append: async (all) => void lines.events.push(...all), close: async () => undefined }),
      },
      ...more,
    },
    node,
    maxFileBytes: () => 4_000_000,
    report: (_at, _problem, error) => void reports.push(error),
  });
  return { server, lines, reports };
}

/** Connects the store of a process to the node. */
function connect(server: StoreServer, instance = address, options: { readonly newEpoch?: number } = {}) {
  const files = memoryFrameFiles();
  const [parent, child] = connectInMemory(agentLanguage, { files });
  ended.push(() => parent.close());
  server.serve(parent, instance);
  return { parent, child, files, store: openIpcStore(child, instance, { ...ports, ...options }) };
}

describe('conversations over a channel conform', () => {
  storeConformance(test, async () => {
    const logs = new MemoryLogs();
    const { server } = nodeOf(logs);
    const inbox = memoryInbox(logs.swarm, 'one');
    const open = () => {
      const stores = [address, otherAddress].map((instance) => ({ instance, ...connect(server, instance) }));
      // A process has one conversation, and the suite has two.
      const of = (key: string) => {
        const found = stores.find(({ instance }) => instance.instanceKey === key);
        if (!found) throw new Error(`no store for ${key}`);
        return found.store;
      };
      const conversations = {
        open: async (...[at, ...rest]: Parameters<C['open']>) => of(at.instanceKey).conversations.open(at, ...rest),
        append: async (...[at, ...rest]: Parameters<C['append']>) =>
          of(at.instanceKey).conversations.append(at, ...rest),
        commit: async (...[at, ...rest]: Parameters<C['commit']>) =>
          of(at.instanceKey).conversations.commit(at, ...rest),
        commitStates: async (...[at, ...rest]: Parameters<C['commitStates']>) =>
          of(at.instanceKey).conversations.commitStates(at, ...rest),
        read: async (...[at]: Parameters<C['read']>) => of(at.instanceKey).conversations.read(at),
      };
      return { conversations, inbox, answers: of(address.instanceKey).answers, stores };
    };
    let opened = open();
    return {
      seams: opened,
      // The process is killed.
      async again() {
        for (const { parent } of opened.stores) parent.close();
        opened = open();
        return opened;
      },
      end: async () => undefined,
    };
  });
});

type C = ReturnType<typeof openIpcStore>['conversations'];

async function commitTurn(conversations: C, turnId: string): Promise<void> {
  const { epoch } = await conversations.open(address, turnId);
  await conversations.commit(address, epoch, turnId, delta, {}, resultOf(turnId));
}

test('a new conversation is not read, and its first commit is one statement', async () => {
  const logs = new MemoryLogs();
  const { server } = nodeOf(logs);
  const { store } = connect(server, address, { newEpoch: logs.claim(address, 'one') });
  await commitTurn(store.conversations, 'turn-a');
  expect(logs.statements).toBe(1);
  await store.close();
  expect(logs.statements).toBe(1);
  expect((await connect(server).store.conversations.read(address)).version).toBe(1);
});

test('the start message of a new conversation has the epoch of the claim and the node, and no address', () => {
  const { server } = nodeOf(new MemoryLogs());
  expect(server.startOf(address)).toEqual({ isElsewhere: true, newEpoch: 7, node });
  const known = nodeOf(new MemoryLogs(), { placement: { takeNewEpoch: () => undefined } });
  expect(known.server.startOf(address)).toEqual({ isElsewhere: true, node });
});

test('a message that is too long for a frame goes by file, in both directions', async () => {
  const logs = new MemoryLogs();
  const { server } = nodeOf(logs);
  const { store } = connect(server);
  const { epoch } = await store.conversations.open(address, 'turn-a');
  const states = { notes: 'x'.repeat(3_000_000) };
  await store.conversations.commit(address, epoch, 'turn-a', delta, states, resultOf('turn-a'));
  const next = connect(server);
  expect((await next.store.conversations.read(address)).extensionState).toEqual(states);
});

test('a request about another instance cannot be sent: the channel decides', async () => {
  const logs = new MemoryLogs();
  const { server } = nodeOf(logs);
  const { store } = connect(server, otherAddress);
  const { epoch } = await store.conversations.open(address, 'turn-a');
  await store.conversations.commit(address, epoch, 'turn-a', delta, {}, resultOf('turn-a'));
  expect([logs.linesOf(address).length, logs.linesOf(otherAddress).length]).toEqual([0, 2]);
});

test('the close of the channel ends all waits', async () => {
  const logs = new MemoryLogs();
  const { server } = nodeOf(logs, { log: { ...logs.at('one'), append: () => new Promise(() => undefined) } });
  const { parent, store } = connect(server);
  const { epoch } = await store.conversations.open(address, 'turn-a');
  const waits = store.conversations.append(address, epoch, 0, [{ type: 'intent', key: 'a', kind: 'tool' }]);
  parent.close();
  expect(await rejectionOf(waits)).toMatchObject({ code: 'E_IPC_CLOSED' });
});

test('a closed store hears no messages', async () => {
  const [parent, child] = connectInMemory(agentLanguage);
  ended.push(() => parent.close());
  nodeOf(new MemoryLogs()).server.serve(parent, address);
  let listeners = 0;
  const hear = child.onMessage.bind(child);
  child.onMessage = (listener) => {
    const stop = hear(listener);
    listeners += 1;
    return () => {
      listeners -= 1;
      stop();
    };
  };
  const store = openIpcStore(child, address, ports);
  await commitTurn(store.conversations, 'turn-a');
  expect(listeners).toBe(1);
  await store.close();
  expect(listeners).toBe(0);
});

test('a fence reaches the process with its code, and a failure of the store without its text', async () => {
  const logs = new MemoryLogs();
  const { server, reports } = nodeOf(logs);
  const { store } = connect(server);
  const { epoch } = await store.conversations.open(address, 'turn-a');
  const secret = 'connect ECONNREFUSED 10.1.2.3:5432';
  const later = { retryable: true, retryAfterMs: 7 };
  logs.failure = { of: 'append', error: new GoondanError('E_STORE_AWAY', secret, later) };
  const commit = () => store.conversations.commit(address, epoch, 'turn-a', delta, {}, resultOf('turn-a'));
  const failed = await rejectionOf(commit());
  expect(failed).toMatchObject({ code: 'E_STORE_AWAY', ...later });
  expect(JSON.stringify([failed, String(failed)])).not.toContain('5432');
  expect(reports).toMatchObject([{ message: secret }]);
  const again = await store.conversations.open(address, 'turn-a');
  logs.claim(address, 'two');
  const late = store.conversations.commit(address, again.epoch, 'turn-a', delta, {}, resultOf('turn-a'));
  expect(await rejectionOf(late)).toMatchObject({ code: 'E_FENCED' });
});

test('the next process reads what the one before has sent, however slow the store is', async () => {
  const logs = new MemoryLogs();
  const kept = logs.at('one');
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: typeof kept = {
    ...kept,
    async append(...frame) {
      begun.resolve();
      await gate.promise;
      return kept.append(...frame);
    },
  };
  const { server } = nodeOf(logs, { log: slow });
  const before = connect(server, address, { newEpoch: logs.claim(address, 'one') });
  const { epoch } = await before.store.conversations.open(address, 'turn-a');
  const lost = before.store.conversations.append(address, epoch, 0, [{ type: 'intent', key: 'a', kind: 'tool' }]);
  lost.catch(() => undefined);
  await begun.promise;
  before.child.close();
  const next = connect(server);
  const opened = next.store.conversations.open(address, 'turn-a');
  expect(await Promise.race([opened, Bun.sleep(5)])).toBeUndefined();
  gate.resolve();
  // The head was under way; the frame behind it had come in, and is written though its process is gone.
  expect((await opened).log).toMatchObject([{ type: 'intent', key: 'a' }]);
  expect(logs.linesOf(address).length).toBe(2);
  await commitTurn(next.store.conversations, 'turn-a');
  expect((await next.store.conversations.read(address)).version).toBe(1);
});

test('lines for people do not hold up the conversation, and a sink that failed is opened again', async () => {
  const logs = new MemoryLogs();
  const gate = Promise.withResolvers<void>();
  let opened = 0;
  const traceSink = {
    async open() {
      opened += 1;
      if (opened === 1) throw new Error('not yet');
      return { append: () => gate.promise, close: async () => undefined };
    },
  };
  const { server, lines } = nodeOf(logs, { traceSink });
  const { store } = connect(server);
  const traces = await store.traceSink.open(address);
  const turn = { turnId: 'turn-a', traceId: 't', startedAt: new Date(0) };
  const line = { turn, isNeeded: true, text: () => '{}' };
  expect(await rejectionOf(traces.append([line]))).toMatchObject({ code: 'E_STORE_WRITE' });
  const written = traces.append([line, { ...line, text: () => undefined }]);
  await (await store.eventSink.open(address)).append([{ name: 'turn.started' }]);
  await commitTurn(store.conversations, 'turn-a');
  expect([lines.events, opened]).toEqual([[{ name: 'turn.started' }], 2]);
  gate.resolve();
  await written;
});

/** The start message of an agent that answers with a script. */
function startOf(instanceKey: string, newEpoch?: number): AgentStart {
  const script = [{ say: 'said it' }];
  return {
    address: { ...address, instanceKey },
    agent: {
      agentName: address.agentName,
      models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
    },
    agents: [],
    store: { isElsewhere: true, ...(newEpoch !== undefined && { newEpoch }) },
    ...(newEpoch !== undefined && { isNew: true }),
    cwd: '/',
  };
}

const host = {
  clock: systemClock,
  moveTo: () => undefined,
  warmUp: async () => undefined,
  openStore: () => Promise.reject(new Error('no files')),
  answerOwnPackages: () => undefined,
  watchDraws: () => undefined,
  onTerminate: () => undefined,
  onUncaught: () => undefined,
};

describe('an agent process without files', () => {
  function launch(server: StoreServer, start: AgentStart) {
    const [parent, child] = connectInMemory(agentLanguage);
    const said: FromAgent[] = [];
    const exits: number[] = [];
    parent.onMessage((message) => void said.push(message));
    server.serve(parent, start.address);
    let crash: (thrown: unknown) => void = () => undefined;
    const exit = (code: number) => {
      exits.push(code);
      child.close();
    };
    runAgentProcess(child, { ...host, onUncaught: (listener) => void (crash = listener), exit });
    ended.push(() => parent.close());
    // Safe: `AgentStart` contains only JSON.
    void parent.send({ type: 'start', plan: start as unknown as JsonObject });
    const first = (type: FromAgent['type'], index = 0) =>
      until(() => said.filter((message) => message.type === type)[index]);
    return { parent, exits, first, crash: (thrown: unknown) => crash(thrown) };
  }

  test('handles its turns, leaves its records, and the next process continues', async () => {
    const logs = new MemoryLogs();
    const { server, lines } = nodeOf(logs);
    const newEpoch = logs.claim(address, 'one');
    const process = launch(server, startOf(address.instanceKey, newEpoch));
    await process.first('ready');
    expect(logs.statements).toBe(0);
    await process.parent.send(firstTurn);
    expect(await process.first('turn.done')).toMatchObject({ result: { finishReason: 'text_response' } });
    // One commit: nothing was read, and nothing happened outside that had to be recorded before.
    expect(logs.statements).toBe(1);
    await process.parent.send({ type: 'drain', graceMs: 1_000 });
    await until(() => process.exits[0]);
    expect([process.exits, lines.events.length > 0, lines.traces.length > 0]).toEqual([[0], true, true]);
    const next = launch(server, startOf(address.instanceKey));
    await next.first('ready');
    await next.parent.send({ ...firstTurn, seq: 2, event: { ...firstTurn.event, id: 'e2' } });
    await next.first('turn.done');
    const read = await connect(server).store.conversations.read(address);
    expect([read.version, read.messages.length]).toEqual([2, 4]);
  });

  test('a process that crashes writes its last lines before it closes its channel', async () => {
    const logs = new MemoryLogs();
    const { server, lines } = nodeOf(logs);
    const process = launch(server, startOf(address.instanceKey));
    await process.parent.send(firstTurn);
    await process.first('turn.done');
    process.crash(new Error('boom'));
    await until(() => process.exits[0]);
    expect(lines.events.map(({ name }) => name)).toContain('turn.completed');
  });

  test('an answer that an earlier process left is sent, and acknowledged in the store', async () => {
    const logs = new MemoryLogs();
    const { server } = nodeOf(logs);
    const inbox = memoryInbox(logs.swarm, 'one');
    await inbox.accept(address, eventOf('a', { replyTo: { target: 'x', correlationId: 'a' } }));
    const [entry] = await inbox.pendingEntries(address);
    const { store } = connect(server);
    const { epoch } = await store.conversations.open(address, turnOf('a'), entry);
    await store.conversations.commit(address, epoch, turnOf('a'), delta, {}, resultOf(turnOf('a')));
    const process = launch(server, startOf(address.instanceKey));
    expect(await process.first('reply')).toMatchObject({ eventId: 'a', result: resultOf(turnOf('a')) });
    await process.parent.send({ type: 'reply.taken', eventId: 'a' });
    await until(() => (logs.swarm.inputOf(address).answers.length === 0 ? true : undefined));
  });

  test('conversations of a shared process have a store each, over their seats', async () => {
    const logs = new MemoryLogs();
    const { server } = nodeOf(logs);
    const [parent, child] = connectInMemory(seatedLanguage(agentLanguage));
    ended.push(() => parent.close());
    const seats = [address, otherAddress].map((instance, index) => {
      const seat = index + 1;
      const channel = new SeatChannel<ToAgent, FromAgent>((message) => parent.send({ seat, message }));
      const said: FromAgent[] = [];
      channel.onMessage((message) => void said.push(message));
      server.serve(channel, instance);
      return { channel, said, start: startOf(instance.instanceKey) };
    });
    parent.onMessage((frame) => {
      if ('message' in frame) seats[frame.seat - 1]?.channel.deliver(frame.message);
    });
    runSharedProcess(child, { ...host, exit: () => undefined });
    for (const { channel, start } of seats) {
      // Safe: `AgentStart` contains only JSON.
      await channel.send({ type: 'start', plan: start as unknown as JsonObject });
      await channel.send({ ...firstTurn, event: { ...firstTurn.event, instanceKey: start.address.instanceKey } });
    }
    for (const { said } of seats) await until(() => said.find(({ type }) => type === 'turn.done'));
    for (const instance of [address, otherAddress]) {
      const { messages } = await connect(server, instance).store.conversations.read(instance);
      expect(messages.map(({ data }) => data.role)).toEqual(['user', 'assistant']);
    }
  });
});
