/** Creates, continues, forks, resets and deletes conversations, as a swarm does, until it is told to stop. */
import type { AgentAddress } from '@goondan/types';
import type { TurnRecord } from '../../packages/runtime/src/agent/conversation/conversation-store.ts';
import { durableStore } from '../../packages/runtime/src/workspace/journal/durable-store.ts';
import type { Journal } from '../../packages/runtime/src/workspace/journal/journal.ts';
import type { Random } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import {
  messagesOf,
  simpleEvent,
  simpleRecords,
} from '../../packages/runtime/src/workspace/simulation/simulated-turn.ts';

/** Small files: a conversation of a few turns has several segments, and the inbox is compacted. */
const limits = {
  archive: { bytes: 1_500, files: 2 },
  checkpointBytes: 1_000,
  shortBaseBytes: 100,
  inboxCompactionBytes: 2_000,
  logRoom: { first: 512, most: 1_024 },
  traces: { bytes: 4_000, files: 3, turnBytes: 2_000 },
};

export interface BusyWriter {
  /** The number of each kind of change so far. */
  readonly done: Readonly<Record<string, number>>;
  /** Ends the work, and rejects with the first error of it. */
  stop(): Promise<void>;
}

export async function startWriter(
  place: { readonly stateRoot: string; readonly workspaceId: string },
  keys: readonly string[],
  random: Random,
): Promise<BusyWriter> {
  const warn = ({ path, message }: { path: string; message: string }) => {
    throw new Error(`The writer was warned: ${path}: ${message}`);
  };
  const open = () => durableStore({ ...place, limits, warn });
  const owner = await open();
  await owner.openInbox();
  const done: Record<string, number> = {};
  const count = (what: string) => void (done[what] = (done[what] ?? 0) + 1);
  const stopping = new AbortController();
  let events = 0;

  /** Runs a turn in a store of its own, as the process of an agent does. */
  async function takeTurn(at: AgentAddress, isInterrupted = false): Promise<void> {
    const id = `event-${String((events += 1)).padStart(8, '0')}`;
    await owner.accept(at, simpleEvent(id, { instanceKey: at.instanceKey }));
    const entry = (await owner.pendingEntries(at)).find(({ event }) => event.id === id);
    const agent = await open();
    try {
      await runTurn(agent, at, id, entry, isInterrupted);
    } finally {
      await agent.close();
    }
    if (!isInterrupted) owner.handled(at, id);
    count(isInterrupted ? 'interrupted' : 'turns');
  }

  async function live(key: string): Promise<void> {
    const at = { agentName: 'host', instanceKey: key };
    const copy = { ...at, instanceKey: `${key}-copy` };
    while (!stopping.signal.aborted) {
      for (let turn = 0; turn < 1 + random.below(4); turn += 1) await takeTurn(at);
      await owner.fork(at, { as: copy.instanceKey });
      count('forks');
      await owner.delete(copy, { force: true });
      if (random.chance(0.5)) {
        await owner.reset(at);
        count('resets');
        await takeTurn(at);
      }
      if (random.chance(0.5)) await takeTurn(at, true);
      await owner.delete(at, { force: true });
      count('deletions');
    }
  }

  const lives = Promise.all(keys.map(live));
  lives.catch(() => stopping.abort());
  return {
    done,
    async stop() {
      stopping.abort();
      await lives;
      await owner.close();
    },
  };
}

/** The record of a model call, which counts as usage. */
const reply: TurnRecord = {
  type: 'effect',
  key: '0/model',
  kind: 'model',
  outcome: { ok: true, value: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
  paid: { provider: 'scripted', model: 'scripted' },
};

async function runTurn(
  agent: Journal,
  at: AgentAddress,
  id: string,
  entry: Awaited<ReturnType<Journal['pendingEntries']>>[number] | undefined,
  isInterrupted: boolean,
): Promise<void> {
  const turnId = `turn-${id}`;
  const { epoch } = await agent.open(at, turnId, entry);
  const traces = await agent.openTraces(at);
  const startedAt = new Date();
  const turn = { turnId, traceId: `trace-${id}`, startedAt };
  const ids = { turnId, ...at, traceId: turn.traceId, spanId: id.slice(-8).padStart(16, '0') };
  const line = (fields: object) => ({ turn, isNeeded: true, text: () => JSON.stringify(fields) });
  await traces.append([line({ type: 'start', format: 2, time: startedAt.toISOString(), ...ids, input: id })]);
  const records = [reply, ...simpleRecords(id, 'an answer of some length '.repeat(8))];
  await agent.append(at, epoch, 0, records);
  if (isInterrupted) {
    await agent.append(at, epoch, records.length, [{ type: 'intent', key: '1/call', kind: 'tool' }]);
  } else {
    const delta = { type: 'append', messages: messagesOf(records) } as const;
    const states = { memo: id, long: 'a long state '.repeat(500) };
    await agent.commit(at, epoch, turnId, delta, states, { turnId, finishReason: 'text_response' });
    const time = new Date().toISOString();
    await traces.append([line({ type: 'end', time, durationMs: 1, finishReason: 'text_response', stepCount: 1 })]);
  }
  await traces.close();
}
