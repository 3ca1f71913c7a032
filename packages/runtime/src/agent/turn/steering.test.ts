import { describe, expect, test } from 'bun:test';
import { GoondanError, type Message, type ModelMessage, type ModelReply, textOf } from '@goondan/types';
import { steeringInput } from '../../testing/input-event.ts';
import { scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';
import { interruptedStore, recordingStore } from '../../testing/turn-records.ts';
import { NO_USAGE } from '../../ports/token-usage.ts';
import type { ConversationStore, TurnInput, TurnRecord } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { Model } from '../model/model-port.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { WaitingInputs } from '../turn-state/waiting-inputs.ts';

const address = { agentName: 'tested', instanceKey: 'default' };

/** Runs before the reply of the call with this number, from 0. */
type BeforeReply = (call: number, messages: readonly ModelMessage[]) => void;

/** A model that calls a tool in each of the first `steps` calls, and then answers. */
function model(steps: number, before: BeforeReply = () => undefined): Model {
  let call = 0;
  return {
    async generate({ messages }): Promise<ModelReply> {
      const number = call++;
      before(number, messages);
      if (number >= steps) {
        const content = [{ type: 'text' as const, text: `answer ${number}` }];
        return { content, finishReason: 'stop', usage: NO_USAGE };
      }
      const wanted = { type: 'tool-call' as const, toolCallId: `call-${number}`, toolName: 'wait__look', input: {} };
      return { content: [wanted], finishReason: 'tool-calls', usage: NO_USAGE };
    },
  };
}

function tool(work: () => void = () => undefined): ToolDeclaration {
  const look = async () => {
    work();
    return 'seen';
  };
  return { name: 'wait', exports: [{ name: 'look', description: 'Looks.' }], handlers: { look } };
}

interface Setting extends ScriptedAgentOptions {
  readonly steps: number;
  readonly before?: BeforeReply;
  readonly work?: () => void;
}

function start({ steps, before, work, ...options }: Setting) {
  return scriptedAgent({ model: model(steps, before), tools: [tool(work)], ...options });
}

function storyOf(messages: readonly Message[]): string {
  return messages.map((message) => (message.data.role === 'user' ? textOf(message) : message.data.role)).join(', ');
}

describe('an input for a running turn', () => {
  test('Y-08 becomes a message of its sender after the results of the step, before the next model call', async () => {
    const waiting = new WaitingInputs();
    const seen: string[] = [];
    const agent = await start({
      steps: 2,
      work: () => waiting.add(steeringInput('n', 2)),
      before: (_call, messages) => seen.push(messages.map(({ role }) => role).join(' ')),
    });
    const turn = await agent.say('go', { waiting, seq: 1 });
    expect(turn.text).toBe('answer 2');
    expect(storyOf(await agent.messages())).toBe('go, assistant, tool, text of n, assistant, tool, assistant');
    expect(seen).toEqual(['user', 'user assistant tool user', 'user assistant tool user assistant tool']);
    expect(waiting.taken).toEqual(['n']);
    const [told] = agent.told.filter(({ name }) => name === 'turn.steered');
    expect(told?.payload).toMatchObject({
      turnId: 'turn-event-1',
      eventId: 'n',
      messageId: 'turn-n.input',
      stepIndex: 1,
    });
    expect(turn.trace?.inside[1]).toMatchObject({
      label: '1',
      took: [{ eventId: 'n', source: { kind: 'cli', name: 'alice' }, input: 'text of n' }],
    });
  });

  test('Y-08 that comes during the last step gets a further step, so the model answers it', async () => {
    const waiting = new WaitingInputs();
    const agent = await start({ steps: 0, before: (call) => call === 0 && waiting.add(steeringInput('n', 2)) });
    const turn = await agent.say('go', { waiting, seq: 1 });
    expect([turn.text, turn.stepCount]).toEqual(['answer 1', 2]);
    expect(storyOf(await agent.messages())).toBe('go, assistant, text of n, assistant');
  });

  test('Y-08 is taken with all others that wait, in the order of their numbers', async () => {
    const waiting = new WaitingInputs();
    for (const seq of [4, 2, 3]) waiting.add(steeringInput(`n${seq}`, seq));
    const agent = await start({ steps: 0 });
    await agent.say('go', { waiting, seq: 1 });
    expect(storyOf(await agent.messages())).toBe('go, text of n2, text of n3, text of n4, assistant');
    expect(waiting.taken).toEqual(['n2', 'n3', 'n4']);
  });

  test('Y-08 is not taken when the limit of steps is reached: it has a turn of its own', async () => {
    const waiting = new WaitingInputs();
    const policy = { maxStepsPerTurn: 1 };
    const agent = await start({ steps: 1, work: () => waiting.add(steeringInput('n', 2)), policy });
    const turn = await agent.say('go', { waiting, seq: 1 });
    expect([turn.result.finishReason, waiting.taken]).toEqual(['max_steps', []]);
    expect(storyOf(await agent.messages())).toBe('go, assistant, tool');
  });

  test('Y-08 is not taken when the limit of tokens is reached: it has a turn of its own', async () => {
    const waiting = new WaitingInputs();
    const usage = { inputTokens: 9, outputTokens: 1, totalTokens: 10 };
    const generate = async (): Promise<ModelReply> => {
      waiting.add(steeringInput('late', 2));
      return { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage };
    };
    const agent = await scriptedAgent({ model: { generate }, policy: { maxTokensPerTurn: 10 } });
    const { result } = await agent.say('go', { waiting });
    expect([result.finishReason, waiting.taken]).toEqual(['text_response', []]);
  });

  test('Y-08 that comes again after it was taken does not wait', () => {
    const waiting = new WaitingInputs();
    waiting.took('again');
    waiting.add(steeringInput('again', 2));
    expect(waiting.next()).toEqual([]);
  });

  test('Y-08 is not taken between the attempts of a step, whose tool calls may have no results', async () => {
    const waiting = new WaitingInputs();
    const failing = oneLayer('failing', 'step', async (ctx) => {
      const result = await ctx.next();
      if (ctx.stepIndex > 0) return result;
      waiting.add(steeringInput('n', 2));
      throw Object.assign(new Error('once more'), { retryable: true });
    });
    const agent = await start({ steps: 1, extensions: [failing] });
    await agent.say('go', { waiting, seq: 1 });
    expect(storyOf(await agent.messages())).toBe('go, assistant, tool, assistant, text of n, assistant');
  });

  test('Y-08 that was taken after an answer is answered, also if the step for it fails and is tried again', async () => {
    const waiting = new WaitingInputs();
    const before = (call: number) => {
      if (call === 0) waiting.add(steeringInput('n', 2));
      if (call === 1) throw new GoondanError('E_MODEL_FAILED', 'overloaded', { retryable: true });
    };
    const agent = await start({ steps: 0, before, policy: { maxStepRetries: 1 } });
    const turn = await agent.say('go', { waiting, seq: 1 });
    expect(turn.text).toBe('answer 2');
    expect(storyOf(await agent.messages())).toBe('go, assistant, text of n, assistant');
  });

  test('Y-08 that a committed turn has handled is not taken again', async () => {
    const store = memoryStore();
    const agent = await start({ steps: 0, store });
    await agent.say('go', { waiting: waitingFor(steeringInput('n', 2)), seq: 1 });
    const again = waitingFor(steeringInput('n', 2));
    await agent.say('more', { waiting: again, seq: 3 });
    expect(again.taken).toEqual([]);
    expect(storyOf(await agent.messages())).toBe('go, text of n, assistant, more, assistant');
    // A second delivery gets the end of the turn that took it.
    const second = await agent.say('text of n', { event: { id: 'n' } });
    expect(second.result).toMatchObject({ turnId: 'turn-event-1', finishReason: 'text_response' });
  });

  test('Y-08 is kept by a `truncate` of a layer, like the input of the turn', async () => {
    const shorten = beforeNext('shorten', 'step', (ctx) => {
      if (ctx.stepIndex === 1) ctx.emitMessageEvent({ type: 'truncate' });
    });
    const waiting = new WaitingInputs();
    const agent = await start({ steps: 1, work: () => waiting.add(steeringInput('n', 2)), extensions: [shorten] });
    await agent.say('go', { waiting, seq: 1 });
    expect(storyOf(await agent.messages())).toBe('go, text of n, assistant');
  });
});

describe('a turn that took an input and was interrupted', () => {
  /** Runs the turn until the write with this number, after which its process is gone. */
  async function interrupt(writes: number) {
    const store = memoryStore();
    const records: TurnRecord[] = [];
    const gone = Promise.withResolvers<void>();
    const vanish = () => {
      gone.resolve();
      return new Promise<never>(() => undefined);
    };
    let count = 0;
    const dying: ConversationStore = {
      ...store,
      async append(at, epoch, index, batch) {
        if (count >= writes) return vanish();
        count += 1;
        records.push(...batch);
        return store.append(at, epoch, index, batch);
      },
      commit(_at, _epoch, _turnId, _delta, _states, _result, rest) {
        records.push(...(rest?.records ?? []));
        return vanish();
      },
    };
    const waiting = new WaitingInputs();
    const first = await start({ steps: 2, work: () => waiting.add(steeringInput('n', 2)), store: dying });
    void first.say('go', { waiting, seq: 1 });
    await gone.promise;
    return { store, records };
  }

  test('Y-08 has it once when it is resumed, after an interruption at any write', async () => {
    for (let writes = 1; writes <= 8; writes += 1) {
      const { store } = await interrupt(writes);
      const waiting = waitingFor(steeringInput('n', 2));
      const agent = await start({ steps: 2, store });
      const turn = await agent.say('go', { waiting, seq: 1 });
      const messages = await agent.messages();
      expect(messages.filter(({ id }) => id === 'turn-n.input')).toHaveLength(1);
      expect(waiting.taken).toEqual(['n']);
      expect(turn.result.finishReason).toBe('text_response');
      const roles = messages.map(({ data }) => data.role).join(' ');
      expect(roles).not.toContain('assistant user tool');
      expect((await store.open(address, 'turn-event-1')).finished?.turnId).toBe('turn-event-1');
    }
  });

  test('Y-08 answers it when it is resumed, after an interruption at any record behind the input', async () => {
    const waiting = new WaitingInputs();
    const whole = await recordTurn({
      steps: 0,
      before: (call) => {
        if (call === 0) waiting.add(steeringInput('n', 2));
        if (call === 1) throw new GoondanError('E_MODEL_FAILED', 'overloaded', { retryable: true });
      },
      policy: { maxStepRetries: 1 },
      waiting,
    });
    const taken = whole.findIndex((each) => each.type === 'message' && each.took !== undefined);
    const steps = whole.slice(taken).map((each) => (each.type === 'step' ? each.outcome : each.type));
    expect(steps.filter((each) => each === 'dropped' || each === 'completed')).toEqual(['dropped', 'completed']);
    for (let length = taken + 1; length <= whole.length; length += 1) {
      const store = await interruptedStore(whole.slice(0, length));
      const agent = await start({ steps: 0, store });
      await agent.say('go', { waiting: new WaitingInputs(), seq: 1 });
      expect(storyOf(await agent.messages())).toBe('go, assistant, text of n, assistant');
    }
  });

  test('Y-08 keeps it through a `truncate` of a layer, after an interruption at any record behind the input', async () => {
    const shorten = beforeNext('shorten', 'step', (ctx) => {
      if (ctx.stepIndex === 1) ctx.emitMessageEvent({ type: 'truncate' });
    });
    const waiting = new WaitingInputs();
    const extensions = [shorten];
    const work = () => waiting.add(steeringInput('n', 2));
    const whole = await recordTurn({ steps: 1, work, waiting, extensions });
    const taken = whole.findIndex((each) => each.type === 'message' && each.took !== undefined);
    for (let length = taken + 1; length <= whole.length; length += 1) {
      const agent = await start({ steps: 0, store: await interruptedStore(whole.slice(0, length)), extensions });
      await agent.say('go', { waiting: new WaitingInputs(), seq: 1 });
      expect(storyOf(await agent.messages())).toBe('go, text of n, assistant');
    }
  });

  /** Runs a turn and returns all its records. */
  async function recordTurn({ waiting, ...setting }: Setting & { readonly waiting: WaitingInputs }) {
    const { store, records } = recordingStore();
    const agent = await start({ ...setting, store });
    await agent.say('go', { waiting, seq: 1 });
    return records;
  }

  test('Y-08 takes no other input before a step that had begun, because its calls were made without it', async () => {
    const { records } = await interrupt(100);
    // The model has answered in the last step, but the step is not sealed.
    const last = records.findLastIndex((record) => record.type === 'step');
    const store = await interruptedStore(records.slice(0, last));
    const waiting = waitingFor(steeringInput('late', 3));
    let calls = 0;
    const agent = await start({ steps: 0, before: () => void (calls += 1), store });
    await agent.say('go', { waiting, seq: 1 });
    const story = 'go, assistant, tool, text of n, assistant, tool, assistant, text of late, assistant';
    expect(storyOf(await agent.messages())).toBe(story);
    expect([waiting.taken, calls]).toEqual([['n', 'late'], 1]);
  });
});

function waitingFor(...inputs: readonly TurnInput[]): WaitingInputs {
  const waiting = new WaitingInputs();
  for (const each of inputs) waiting.add(each);
  return waiting;
}
