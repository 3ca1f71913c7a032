/** Runs one turn of an agent in this process and returns its recording, for tests. */
import type { JsonValue, Message, TurnResult } from '@goondan/types';
import { systemClock } from '../ports/clock.ts';
import { assembleRecording } from '../trace/assemble-recording.ts';
import type { Recording } from '../trace/recording.ts';
import type { ReplaySource } from '../trace/replay.ts';
import { watchTurn } from '../trace/watch-turn.ts';
import { decodeTraceLines } from '../trace/decode-trace-lines.ts';
import type { TurnLine } from '../workspace/traces/trace-writer.ts';
import type { AgentPlan } from '../agent/start/agent-plan.ts';
import type { ConversationStore } from '../agent/conversation/conversation-store.ts';
import { memoryStore } from '../agent/conversation/memory-store.ts';
import { RegisterDraws } from '../agent/draws/register-draws.ts';
import { openTurnTraces } from '../agent/process/turn-traces.ts';
import { type AgentDeps, startAgent } from '../agent/start/start-agent.ts';
import type { TurnOptions } from '../agent/turn/run-turn.ts';
import { appendRest } from './append-rest.ts';

export interface RecordedTurn {
  readonly result: TurnResult;
  readonly start: ReplaySource;
  /** The recording as it would be on disk. */
  readonly text: string;
}

/** Runs a turn for each input and records the last one. */
export async function recordInMemory(
  plan: AgentPlan,
  inputs: readonly string[],
  ports: AgentDeps = {},
  options: Pick<TurnOptions, 'waiting'> = {},
): Promise<RecordedTurn> {
  const draws = new RegisterDraws();
  const { store, times } = noteTimes(memoryStore());
  const agent = await startAgent(plan, {
    store,
    logSink: () => undefined,
    ...ports,
    drawScopeFor: () => draws.newScope(),
  });
  const extensions = agent.extensionParts.map(({ name, scope }) => {
    const drew = scope === undefined ? [] : draws.of(scope);
    return { name, digest: name, tools: agent.parts.tools.ofExtension(name), drew };
  });
  const { address } = agent.parts;
  let before = await store.read(address);
  let result: TurnResult = { turnId: '', finishReason: 'error' };
  let text = '';
  for (const [number, input] of inputs.entries()) {
    before = await store.read(address);
    const lines: string[] = [];
    const append = async (given: readonly TurnLine[]) => void lines.push(...given.flatMap((line) => line.text() ?? []));
    const writer = { append, close: async () => undefined };
    const traces = openTurnTraces({
      open: async () => writer,
      clock: systemClock,
      extensions: () => extensions,
      report: fail,
    });
    const event = {
      id: `event-${number}`,
      type: 'test',
      instanceKey: address.instanceKey,
      source: { kind: 'cli', name: 'test' },
      traceId: 'trace-1',
      createdAt: new Date(),
      input,
    } as const;
    ({ result } = await agent.handle(event, { ...options, observer: watchTurn(systemClock, [traces.listen()]) }));
    await traces.close();
    text = lines.join('\n');
  }
  const after = await store.read(address);
  await agent.close();
  return { result, text, start: startOf(recordingOf(text), before, after.extensionState, times) };
}

function startOf(
  recording: Recording,
  before: { readonly messages: readonly Message[]; readonly extensionState: Readonly<Record<string, JsonValue>> },
  stateAfter: Readonly<Record<string, JsonValue>>,
  times: ReadonlyMap<string, string>,
): ReplaySource {
  const { messages, extensionState } = before;
  const rest = { extensionState, stateAfter, times: Object.fromEntries(times), ignored: [], events: [] };
  const start = { recording, messages, ...rest };
  // The cast is safe: this is a JSON copy, as another process would receive it.
  return JSON.parse(JSON.stringify(start)) as ReplaySource;
}

function recordingOf(text: string): Recording {
  const recording = assembleRecording(decodeTraceLines(text));
  if ('problem' in recording) throw new Error(recording.problem);
  return recording.last.recording;
}

/** Wraps a store, and notes the times of the messages that turns write. */
export function noteTimes(store: ConversationStore) {
  const times = new Map<string, string>();
  const noting = appendRest({
    ...store,
    append: async (instance, epoch, at, records) => {
      for (const record of records) {
        if (record.type !== 'message' || !('message' in record.event)) continue;
        times.set(record.event.message.id, record.event.message.createdAt.toISOString());
      }
      await store.append(instance, epoch, at, records);
    },
  });
  return { store: noting, times };
}

function fail(problem: string): never {
  throw new Error(problem);
}
