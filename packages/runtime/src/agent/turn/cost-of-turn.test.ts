/** The third invariant of ARCHITECTURE.md: the cost of a turn follows its change, not the length of the history. */
import { describe, expect, test } from 'bun:test';
import { createUserMessage, type Message, type ModelReply } from '@goondan/types';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { type CountedWork, countWork, watched } from '../../testing/count-work.ts';
import { recordTurn } from '../../trace/record-turn.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { Model } from '../model/model-port.ts';
import { type RunningAgent, startAgent } from '../start/start-agent.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import type { TurnOptions } from './run-turn.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { recordingStore } from '../../testing/turn-records.ts';

const STEPS = 5;

describe('a turn of some steps, in an agent with a secret', () => {
  test('does the same work after 100 messages and after 10 000', async () => {
    const [short, long] = [await workAfter(100), await workAfter(10_000)];
    expect(long).toEqual(short);
    expect(short.reads).toBe(0);
  });

  test('looks at the same number of messages when it is recorded; only references are copied, once a model call', async () => {
    const recorded = () => ({ observer: recordTurn(systemClock) });
    const [short, long] = [await workAfter(100, recorded), await workAfter(10_000, recorded)];
    expect({ ...long, copied: 0 }).toEqual({ ...short, copied: 0 });
    expect(long.copied - short.copied).toBe(STEPS * 9_900);
  });
});

describe('a turn in which nobody asks for a signal', () => {
  test('has one AbortController and at most three timers, however many calls it makes', async () => {
    const original = globalThis.AbortController;
    let [controllers, timers] = [0, 0];
    const after: Clock['after'] = (ms, action) => {
      timers += 1;
      return systemClock.after(ms, action);
    };
    const agent = await agentOn(memoryStore(), { ...systemClock, after });
    await agent.handle(inputEvent('first'));
    timers = 0;
    globalThis.AbortController = class extends original {
      constructor() {
        super();
        controllers += 1;
      }
    };
    try {
      await agent.handle(inputEvent('second'));
    } finally {
      globalThis.AbortController = original;
    }
    expect(controllers).toBe(1);
    expect(timers).toBeLessThanOrEqual(3);
  });
});

describe('the result of a tool', () => {
  test('is written to the log three times: as an effect, as a message, and with its step', async () => {
    const { store, records } = recordingStore();
    const agent = await agentOn(store, systemClock);
    await agent.handle(inputEvent('first'));
    const count = JSON.stringify(records).split('"hour":7').length - 1;
    expect(count).toBe(3 * (STEPS - 1));
  });
});

/** Returns the work of the third turn. The first one has read the whole history. */
async function workAfter(count: number, options: () => TurnOptions = () => ({})): Promise<CountedWork> {
  const agent = await agentOn(storeWith(count), systemClock);
  for (const id of ['first', 'second']) await agent.handle(inputEvent(id), options());
  return countWork(() => agent.handle(inputEvent('third'), options()));
}

function agentOn(store: ConversationStore, time: Clock): Promise<RunningAgent> {
  return startAgent(
    { agentName: 'clerk', models: { 'Model/steps': stepping() }, tools: [clock], secrets: ['canary-12345'] },
    { store, clock: time, logSink: () => undefined },
  );
}

/** A store whose conversation has this many messages, all of them watched. */
function storeWith(count: number): ConversationStore {
  const base = Array.from({ length: count }, (_, index) => watched(oldMessage(index)));
  const store = memoryStore();
  return {
    ...store,
    open: async (address, turnId) => ({ ...(await store.open(address, turnId)), loadBase: async () => base }),
  };
}

function oldMessage(index: number): Message {
  const message = createUserMessage(`Question ${index}`, {}, { id: `old-${index}`, createdAt: new Date(0) });
  return { ...message, data: Object.freeze(message.data) };
}

/** Calls the tool in each step but the last of a turn. */
function stepping(): Model {
  let calls = 0;
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  return {
    async generate(): Promise<ModelReply> {
      calls += 1;
      if (calls % STEPS === 0) return { content: [{ type: 'text', text: 'Seven.' }], finishReason: 'stop', usage };
      const call = { toolCallId: `call-${calls}`, toolName: 'clock__read', input: {} };
      return { content: [{ type: 'tool-call', ...call }], finishReason: 'tool-calls', usage };
    },
  };
}

const clock: ToolDeclaration = {
  name: 'clock',
  exports: [{ name: 'read', description: 'The time.' }],
  handlers: { read: () => ({ hour: 7 }) },
};
