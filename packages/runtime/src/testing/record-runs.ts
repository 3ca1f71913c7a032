/**
 * Runs one turn of an agent in this process, for tests. The turn is interrupted several times. Returns the recording of
 * each run.
 */
import type { TurnResult } from '@goondan/types';
import { type TurnRuns, assembleRecording } from '../trace/assemble-recording.ts';
import type { ReplaySource } from '../trace/replay.ts';
import { decodeTraceLines } from '../trace/decode-trace-lines.ts';
import { watchTurn } from '../trace/watch-turn.ts';
import { systemClock } from '../ports/clock.ts';
import type { TurnLine } from '../workspace/traces/trace-writer.ts';
import type { AgentPlan } from '../agent/start/agent-plan.ts';
import type { ConversationStore, TurnRecord } from '../agent/conversation/conversation-store.ts';
import { memoryStore } from '../agent/conversation/memory-store.ts';
import { readTurnLog } from '../agent/conversation/turn-log.ts';
import { RegisterDraws } from '../agent/draws/register-draws.ts';
import { openTurnTraces } from '../agent/process/turn-traces.ts';
import { type AgentDeps, type RunningAgent, startAgent } from '../agent/start/start-agent.ts';
import { noteTimes } from './record-in-memory.ts';

export interface RunOfTurn {
  readonly plan: AgentPlan;
  readonly ports?: AgentDeps;
  readonly signal?: AbortSignal;
  /** Called with the agent before its turn. */
  readonly onStart?: (agent: RunningAgent) => void;
  /**
   * The moment at which the process of this run ends, before its turn has ended; absent for the last run. `left` means
   * that the process was drained while the turn waited for a person.
   */
  readonly interrupted?: Interruption;
}

export interface Interruption {
  readonly when: Promise<unknown>;
  readonly how: 'left' | 'crashed';
  /** The moment at which the run last wrote its trace. When absent, this is the moment at which its process ends. */
  readonly lastWritten?: Promise<unknown>;
}

export interface RecordedRuns {
  readonly result: TurnResult;
  readonly runs: TurnRuns;
  /** The recording of each run; undefined for a run that cannot be replayed. */
  readonly starts: readonly (ReplaySource | undefined)[];
  /** The recordings as they would be on disk. */
  readonly text: string;
}

const event = {
  id: 'event-0',
  type: 'test',
  instanceKey: 'default',
  source: { kind: 'cli', name: 'test' },
  traceId: 'trace-1',
} as const;

export async function recordRuns(input: string, runs: readonly RunOfTurn[]): Promise<RecordedRuns> {
  const lines: string[] = [];
  const { store, found, times } = noteLog(memoryStore());
  const asked = { ...event, createdAt: new Date(), input };
  let result: TurnResult = { turnId: '', finishReason: 'error' };
  const timesOf: Record<string, string>[] = [];
  for (const { plan, ports, signal, onStart, interrupted } of runs) {
    const draws = new RegisterDraws();
    /** Lines that were written after `lastWritten`, and are lost in the crash. */
    const late: string[] = [];
    let written = lines;
    const process = { isGone: false };
    const agent = await startAgent(plan, {
      logSink: () => undefined,
      ...ports,
      store: untilGone(store, process),
      drawScopeFor: () => draws.newScope(),
    });
    onStart?.(agent);
    const extensions = agent.extensionParts.map(({ name, scope }) => ({
      name,
      digest: name,
      drew: scope === undefined ? [] : draws.of(scope),
    }));
    const append = async (given: readonly TurnLine[]) =>
      void written.push(...given.flatMap((line) => line.text() ?? []));
    const writer = { append, close: async () => undefined };
    const traces = openTurnTraces({
      open: async () => writer,
      clock: systemClock,
      extensions: () => extensions,
      report: fail,
    });
    const observer = watchTurn(systemClock, [traces.listen()]);
    const turn = agent.handle(asked, { observer, ...(signal && { signal }) });
    // The turn of an exited process may fail, but nothing awaits it.
    turn.catch(() => undefined);
    if (interrupted?.lastWritten !== undefined) {
      await Promise.race([turn, interrupted.lastWritten]);
      await traces.flush();
      written = late;
    }
    const ended = await Promise.race(
      interrupted === undefined ? [turn] : [turn, interrupted.when.then(() => undefined)],
    );
    if (ended === undefined && interrupted?.how === 'left') traces.leave();
    await traces.flush();
    timesOf.push(Object.fromEntries(times));
    if (ended !== undefined) {
      lines.push(...late);
      ({ result } = ended);
      await agent.close();
      break;
    }
    written = late;
    process.isGone = true;
  }
  const text = lines.join('\n');
  const recorded = assembleRecording(decodeTraceLines(text));
  if ('problem' in recorded) throw new Error(recorded.problem);
  const { extensionState: after } = await store.read({
    agentName: runs[0]?.plan.agentName ?? '',
    instanceKey: 'default',
  });
  const starts = [...recorded.earlier, recorded.last].map(({ recording }, index): ReplaySource | undefined => {
    if (recording === undefined) return undefined;
    const isLast = recording === recorded.last.recording;
    const events = readTurnLog(found[index] ?? []).events;
    const rest = { extensionState: {}, stateAfter: isLast ? after : {}, times: timesOf[index] ?? {}, ignored: [] };
    // The cast is safe: this is a JSON copy, as another process would receive it.
    return JSON.parse(JSON.stringify({ recording, messages: [], events, ...rest })) as ReplaySource;
  });
  return { result, runs: recorded, starts, text };
}

/** Records the log that each run found, and the times of messages. */
function noteLog(store: ConversationStore) {
  const { store: timed, times } = noteTimes(store);
  const found: (readonly TurnRecord[])[] = [];
  const noting: ConversationStore = {
    ...timed,
    async open(instance, turnId) {
      const opened = await timed.open(instance, turnId);
      found.push(opened.log);
      return opened;
    },
  };
  return { store: noting, found, times };
}

/** Wraps a store. Once its process has exited, its calls never settle. */
function untilGone(store: ConversationStore, process: { readonly isGone: boolean }): ConversationStore {
  const orNever = <Value>(act: () => Promise<Value>): Promise<Value> =>
    process.isGone ? new Promise(() => undefined) : act();
  return {
    open: (...turn) => orNever(() => store.open(...turn)),
    append: (...records) => orNever(() => store.append(...records)),
    commit: (...turn) => orNever(() => store.commit(...turn)),
    commitStates: (...states) => orNever(() => store.commitStates(...states)),
    read: (...instance) => orNever(() => store.read(...instance)),
  };
}

function fail(problem: string): never {
  throw new Error(problem);
}
