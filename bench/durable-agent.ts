/**
 * The agents, tools and models that the benchmarks share: a model that answers at once, a tool, a conversation on disk.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent, ModelReply } from '@goondan/types';
import { startAgent } from '@goondan/runtime';
import type { Model, ToolDeclaration } from '@goondan/runtime/internal';
import { watchTurn } from '../packages/runtime/src/trace/watch-turn.ts';
import { openTurnTraces } from '../packages/runtime/src/agent/process/turn-traces.ts';
import { systemClock } from '../packages/runtime/src/ports/clock.ts';
import { systemProcesses } from '../packages/runtime/src/ports/processes.ts';
import { type Journal, openJournal } from '../packages/runtime/src/workspace/journal/journal.ts';
import { extension } from '../packages/runtime/src/testing/index.ts';
import { type CountingFs, countingFs } from './counting-fs.ts';

export const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
};

export const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'Weather', parameters }],
  handlers: { get: async () => ({ tempC: 20 }) },
};

export function benchEvent(number: number): AgentEvent {
  return {
    id: String(number),
    type: 'user.message',
    input: 'What is the weather like in Seoul today?',
    instanceKey: 'default',
    source: { kind: 'cli', name: 'bench' },
    traceId: 'trace',
    createdAt: new Date(),
  };
}

export async function withDisk<Value>(use: (journal: Journal, fs: CountingFs) => Promise<Value>): Promise<Value> {
  const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-bench-'));
  const fs = countingFs();
  const ports = { fs, clock: systemClock, processes: systemProcesses, warn: () => undefined };
  const journal = await openJournal(ports, { stateRoot, workspaceId: 'bench' });
  try {
    return await use(journal, fs);
  } finally {
    await journal.close();
    await rm(stateRoot, { recursive: true, force: true });
  }
}

/**
 * Creates an agent on the journal, with `layers` layers around each step. `turn` accepts an input and runs its turn.
 */
export async function durableAgent(journal: Journal, steps: number, { layers = 0, isTraced = false } = {}) {
  const instanceKey = isTraced ? 'traced' : 'default';
  const agent = await startAgent(
    {
      agentName: 'bench',
      instanceKey,
      models: { 'Model/bench': instantModel(steps) },
      tools: [weather],
      extensions: [passing(layers)],
      secrets: ['a secret of the bench'],
    },
    { store: journal, logSink: () => undefined },
  );
  const traces = openTurnTraces({
    open: () => journal.openTraces(agent.parts.address),
    clock: systemClock,
    extensions: () => [],
    report: (problem) => console.error(problem),
  });
  let count = 0;
  return {
    async turn(): Promise<void> {
      const event = { ...benchEvent(++count), instanceKey };
      await journal.accept(agent.parts.address, event);
      const { result } = await agent.handle(event, {
        observer: isTraced ? watchTurn(systemClock, [traces.listen()]) : undefined,
      });
      if (result.finishReason === 'error') throw new Error(result.error?.message);
    },
  };
}

/** Registers layers that only call `next()`, around steps, model and tool calls. */
function passing(layers: number) {
  return extension('passing', ({ pipeline }) => {
    for (let index = 0; index < layers; index++) {
      pipeline.register('step', (ctx) => ctx.next());
      pipeline.register('model', (ctx) => ctx.next());
      pipeline.register('toolCall', (ctx) => ctx.next());
    }
  });
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

export function instantModel(steps: number): Model {
  let calls = 0;
  return {
    async generate(): Promise<ModelReply> {
      calls++;
      if (calls % steps === 0) return { content: [{ type: 'text', text: 'Sunny.' }], finishReason: 'stop', usage };
      const call = { toolCallId: `call-${calls}`, toolName: 'weather__get', input: { city: 'Seoul' } };
      return { content: [{ type: 'tool-call', ...call }], finishReason: 'tool-calls', usage };
    },
  };
}
