/** Runs the program of an agent process in this process, with both ends of its channel and a real disk. */
import type { JsonObject } from '@goondan/types';
import { runAgentProcess } from '../agent/process/run-agent-process.ts';
import type { AgentStart } from '../config/agent-start.ts';
import { agentLanguage } from '../ipc/codec.ts';
import type { FromAgent } from '../ipc/from-agent.ts';
import type { ToAgent } from '../ipc/to-agent.ts';
import { systemClock } from '../ports/clock.ts';
import { agentStoreOf } from '../store/files/open-agent-store.ts';
import { memoryBlobs } from '../store/memory-blobs.ts';
import { durableStore } from '../workspace/journal/durable-store.ts';
import { connectInMemory } from './connect-in-memory.ts';
import { testEvent } from './test-event.ts';

export type FrameOf<Type extends FromAgent['type']> = Extract<FromAgent, { readonly type: Type }>;

export interface LaunchedProcess {
  send(message: ToAgent): Promise<void>;
  /** Every frame of the process, in order. */
  readonly said: readonly FromAgent[];
  /** The exit codes; -1 if the test ended the process. */
  readonly exits: readonly number[];
  /** Waits for the first frame of this type, or the n-th one. */
  first<Type extends FromAgent['type']>(type: Type, index?: number): Promise<FrameOf<Type>>;
  /** Ends the process as a crash does: nothing is finished. */
  kill(): Promise<void>;
}

/** The first turn of a process: its input is `go`. */
export const firstTurn = { type: 'turn', event: testEvent('e1', { input: 'go' }), seq: 1 } as const;

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
  const [parent, child] = connectInMemory(agentLanguage);
  const said: FromAgent[] = [];
  const exits: number[] = [];
  const waiting = new Set<() => void>();
  parent.onMessage((message) => {
    said.push(message);
    for (const look of [...waiting]) look();
  });
  let close = () => Promise.resolve();
  const exit = (code: number) => {
    exits.push(code);
    child.close();
    return close();
  };
  runAgentProcess(child, {
    clock: systemClock,
    moveTo: () => undefined,
    warmUp: () => Promise.resolve(),
    async openStore(location, warn) {
      const journal = await durableStore({ ...location, warn });
      close = () => journal.close();
      return agentStoreOf(journal, memoryBlobs());
    },
    answerOwnPackages: () => undefined,
    watchDraws: () => undefined,
    onTerminate: () => undefined,
    onUncaught: () => undefined,
    exit: (code) => void exit(code),
  });
  // The cast is safe: `AgentStart` contains only JSON.
  await parent.send({ type: 'start', plan: start as unknown as JsonObject });
  const first: LaunchedProcess['first'] = async (type, index = 0) => {
    const { promise, resolve } = Promise.withResolvers<FromAgent>();
    const look = () => {
      const found = said.filter((message) => message.type === type)[index];
      if (found !== undefined) resolve(found);
    };
    waiting.add(look);
    look();
    // The cast is safe: the message was found by its type.
    return (await promise.finally(() => waiting.delete(look))) as FrameOf<typeof type>;
  };
  await first('ready');
  return { send: parent.send.bind(parent), said, exits, first, kill: () => exit(-1) };
}
