/**
 * Agents with a conversation on disk or in memory, a model that answers at once and a tool. All of them have the same
 * secrets to mask.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent } from '@goondan/runtime';
import { watchTurn } from '../packages/runtime/src/trace/watch-turn.ts';
import { openTurnTraces } from '../packages/runtime/src/agent/process/turn-traces.ts';
import { systemClock } from '../packages/runtime/src/ports/clock.ts';
import { systemProcesses } from '../packages/runtime/src/ports/processes.ts';
import { type Journal, openJournal } from '../packages/runtime/src/workspace/journal/journal.ts';
import { extension } from '../packages/runtime/src/testing/index.ts';
import { type CountingFs, type CountingOptions, countingFs } from './counting-fs.ts';
import { benchEvent, instantModel, secrets, weather } from './instant-agent.ts';

/** A file system in memory, which most Linux systems have. */
const MEMORY = '/dev/shm';

/** Without real syncs, the files are in memory if possible, so that no other program's use of the disk is measured. */
export async function withDisk<Value>(
  options: CountingOptions,
  use: (journal: Journal, fs: CountingFs) => Promise<Value>,
): Promise<Value> {
  const parent = options.syncs === 'real' || !existsSync(MEMORY) ? tmpdir() : MEMORY;
  const stateRoot = await mkdtemp(join(parent, 'goondan-bench-'));
  const fs = countingFs(options);
  const ports = { fs, clock: systemClock, processes: systemProcesses, warn: () => undefined };
  const journal = await openJournal(ports, { stateRoot, workspaceId: 'bench' });
  try {
    return await use(journal, fs);
  } finally {
    await journal.close();
    await rm(stateRoot, { recursive: true, force: true });
  }
}

/** An agent with one conversation. */
export interface BenchAgent {
  turn(): Promise<void>;
  close(): Promise<void>;
}

export interface BenchAgentOptions {
  readonly steps: number;
  /** The number of layers around each step, model call and tool call. */
  readonly layers?: number;
  readonly isTraced?: boolean;
}

/** Starts an agent with a new conversation in the journal. `turn` accepts an input and runs its turn. */
export async function durableAgent(journal: Journal, options: BenchAgentOptions): Promise<BenchAgent> {
  const { steps, layers = 0, isTraced = false } = options;
  const instanceKey = crypto.randomUUID();
  const agent = await startAgent(planOf(steps, layers, instanceKey), { store: journal, logSink: () => undefined });
  const traces = openTurnTraces({
    open: () => journal.openTraces(agent.parts.address),
    clock: systemClock,
    extensions: () => [],
    report: (problem) => console.error(problem),
  });
  let count = 0;
  return {
    async turn() {
      const event = { ...benchEvent(++count), instanceKey };
      await journal.accept(agent.parts.address, event);
      const { result } = await agent.handle(event, {
        observer: isTraced ? watchTurn(systemClock, [traces.listen()]) : undefined,
      });
      if (result.finishReason === 'error') throw new Error(result.error?.message);
    },
    async close() {
      await agent.close();
      await journal.close(agent.parts.address);
    },
  };
}

/** Starts an agent with a new conversation in memory. */
export async function memoryAgent(steps: number): Promise<BenchAgent> {
  const agent = await startAgent(planOf(steps, 0, 'default'), { logSink: () => undefined });
  let count = 0;
  return {
    async turn() {
      const { result } = await agent.handle(benchEvent(++count));
      if (result.finishReason === 'error') throw new Error(result.error?.message);
    },
    close: () => agent.close(),
  };
}

function planOf(steps: number, layers: number, instanceKey: string) {
  return {
    agentName: 'bench',
    instanceKey,
    models: { 'Model/bench': instantModel(steps) },
    tools: [weather],
    extensions: [passing(layers)],
    secrets,
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
