/** Runs the program of an agent process in this process, with both ends of its channel and a real disk. */
import type { JsonObject } from '@goondan/types';
import { runAgentProcess } from '../agent/process/run-agent-process.ts';
import type { AgentStart } from '../config/agent-start.ts';
import { agentLanguage } from '../ipc/codec.ts';
import type { FromAgent } from '../ipc/from-agent.ts';
import type { ChannelLimits } from '../ipc/limits.ts';
import type { ToAgent } from '../ipc/to-agent.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { agentStoreOf } from '../store/files/open-agent-store.ts';
import { memoryBlobs } from '../store/memory-blobs.ts';
import { durableStore } from '../workspace/journal/durable-store.ts';
import type { Journal } from '../workspace/journal/journal.ts';
import { connectInMemory } from './connect-in-memory.ts';
import { inputEvent } from './input-event.ts';

export type FrameOf<Type extends FromAgent['type']> = Extract<FromAgent, { readonly type: Type }>;

export interface LaunchOptions {
  readonly limits?: Partial<ChannelLimits>;
  readonly clock?: Clock;
  /** Wraps the journal that the process uses. */
  readonly wrap?: (journal: Journal) => Journal;
  /** Changes each frame that the orchestrator sends. */
  readonly encode?: (frame: string) => string;
  /** Resolves when the processes before it have released their conversations. Processes of one test share it. */
  readonly locks?: { released: Promise<unknown> };
}

export type LaunchedProcess = ReturnType<typeof launchSpare>;

/** The first turn of a process: its input is `go`. */
export const firstTurn = { type: 'turn', event: inputEvent('e1', { input: 'go' }), seq: 1 } as const;

/** Cancels the first turn of a process that waits for an answer, and returns its last frames about both. */
export async function cancelFirstTurn(process: LaunchedProcess, waitsFor: 'question' | 'changeset') {
  const { callId } = await process.first(`${waitsFor}.ask`);
  await process.send({ type: 'cancel', eventId: firstTurn.event.id, reason: 'Enough.' });
  const withdrawn = await process.first(`${waitsFor}.withdrawn`);
  const { result } = await process.first('turn.done');
  return { callId, withdrawn, code: result.error?.code };
}

/** Starts the process and waits until it is ready. */
export async function launchAgentProcess(start: AgentStart): Promise<LaunchedProcess> {
  const process = launchSpare();
  // The cast is safe: `AgentStart` contains only JSON.
  await process.send({ type: 'start', plan: start as unknown as JsonObject });
  await process.first('ready');
  return process;
}

/** Starts a process that has no plan yet. */
export function launchSpare({ limits, clock = systemClock, wrap, encode, locks }: LaunchOptions = {}) {
  const codec = agentLanguage.parent;
  const encoded = (message: ToAgent) => encode?.(codec.encode(message)) ?? codec.encode(message);
  const language = { ...agentLanguage, parent: { ...codec, encode: encoded } };
  const [parent, child] = connectInMemory(language, limits === undefined ? {} : { limits });
  const said: FromAgent[] = [];
  const exits: number[] = [];
  const journals: Journal[] = [];
  const folders: string[] = [];
  /** The preparations of the process for the code of a bundle. */
  const readied: string[] = [];
  const warmedUp: number[] = [];
  let terminate: () => void = () => undefined;
  let throwUncaught: (thrown: unknown) => void = () => undefined;
  const waiting = new Set<() => void>();
  parent.onMessage((message) => {
    said.push(message);
    for (const look of [...waiting]) look();
  });
  const exit = async (code: number) => {
    exits.push(code);
    for (const look of [...waiting]) look();
    // A process that has ended sends nothing more.
    child.close();
    const closed = Promise.all(journals.splice(0).map((journal) => journal.close()));
    if (locks !== undefined) locks.released = Promise.all([locks.released, closed]);
    await closed;
  };
  runAgentProcess(child, {
    clock,
    moveTo: (folder) => void folders.push(folder),
    warmUp: async () => void warmedUp.push(exits.length),
    async openStore(location, warn) {
      // The lock of a process that has exited is free. Here, the closing takes a moment.
      await locks?.released;
      const journal = await durableStore({ ...location, warn });
      journals.push(journal);
      return agentStoreOf(wrap?.(journal) ?? journal, memoryBlobs());
    },
    answerOwnPackages: () => void readied.push('packages'),
    watchDraws: () => void readied.push('draws'),
    onTerminate: (listener) => void (terminate = listener),
    onUncaught: (listener) => void (throwUncaught = listener),
    exit: (code) => void exit(code),
  });
  const send = parent.send.bind(parent);
  function all<Type extends FromAgent['type']>(type: Type): FrameOf<Type>[] {
    // The cast is safe: the messages were filtered by their type.
    return said.filter((message) => message.type === type) as FrameOf<Type>[];
  }
  /** Waits until there is a value. The limit is shorter than that of a test, so that the test fails with this error. */
  function wait<Value>(find: () => Value | undefined, about: string): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const look = () => {
      const found = find();
      if (found !== undefined) resolve(found);
    };
    const callOff = systemClock.after(28_000, () => reject(new Error(`Not within 28 s: ${about}`)));
    waiting.add(look);
    look();
    return promise.finally(() => {
      callOff();
      waiting.delete(look);
    });
  }
  /** Waits for the first frame of this type, or for the one with this index. */
  function first<Type extends FromAgent['type']>(type: Type, index = 0): Promise<FrameOf<Type>> {
    return wait(() => all(type)[index], `frame ${index} of the type ${type}`);
  }
  return {
    parent,
    send,
    all,
    first,
    folders,
    readied,
    warmedUp,
    /** Every frame of the process, in order. */
    said,
    types: () => said.map(({ type }) => type),
    lines: () => all('log').map(({ line }) => line),
    /** The exit codes; -1 if the test ended the process. */
    exits,
    /** Waits for the end of the process, and returns its exit code. */
    exited: () => wait(() => exits[0], 'the process exits'),
    journals,
    terminate: () => terminate(),
    throwUncaught: (thrown: unknown) => throwUncaught(thrown),
    /** Resolves when the process has handled every message that was sent before. */
    async settled() {
      const pongs = all('pong').length;
      await send({ type: 'ping', n: pongs + 1 });
      await first('pong', pongs);
    },
    async drained() {
      await send({ type: 'drain', graceMs: 5_000 });
      await first('drained');
    },
    /** Ends the process as a crash does: nothing is finished. */
    kill: () => exit(-1),
  };
}
