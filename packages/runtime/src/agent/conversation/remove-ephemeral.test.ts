import { describe, expect, test } from 'bun:test';
import { createSystemMessage, type MessageLifetime, type Message, type MessageEvent, textOf } from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { afterNext, beforeNext, oneLayer } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import type { TurnRecord } from './conversation-store.ts';
import { recordingStore } from '../../testing/turn-records.ts';

const fading = (scope: MessageLifetime, text: string): MessageEvent => ({
  type: 'append',
  message: createSystemMessage(text, {}, { id: text, lifetime: scope }),
});
const textsOf = (messages: readonly Message[]) => messages.map((message) => textOf(message)).join(' | ');

const clock: ToolDeclaration = {
  name: 'clock',
  exports: [{ name: 'read', description: 'The time.' }],
  handlers: { read: () => 'seven' },
};
const twoSteps = [
  { when: '.', call: { tool: 'clock__read' } },
  { afterTool: 'clock__read', say: 'Seven.' },
];

/** Starts an agent with a tool, and collects every record that it writes. */
async function agentWith(options: ScriptedAgentOptions) {
  const { store, records } = recordingStore();
  const agent = await scriptedAgent({
    tools: [clock],
    script: twoSteps,
    store,
    ...options,
  });
  /** Returns the notes that each model call saw. */
  const seen = () =>
    agent.requests.map(({ messages }) =>
      messages.flatMap(({ role, content }) => (role === 'system' ? content : [])).join(', '),
    );
  return { agent, records, seen };
}

const removals = (records: readonly TurnRecord[]) =>
  records.flatMap((record) => {
    if (record.type !== 'message' || record.event.type !== 'remove') return [];
    const { event, author, stepId } = record;
    return [{ targetId: event.targetId, author: author.kind, stepId }];
  });

describe('an ephemeral message of a step', () => {
  const stepNoter = beforeNext('noter', 'step', (ctx) => ctx.emitMessageEvent(fading('step', `note ${ctx.stepIndex}`)));

  test('is seen by the model in that step, and is gone from the next step and from the history', async () => {
    const { agent, seen } = await agentWith({ extensions: [stepNoter] });
    await agent.say('time?');
    expect(seen()).toEqual(['note 0', 'note 1']);
    expect(textsOf(await agent.messages())).toBe('time? |  |  | Seven.');
  });

  test('is removed by an event of the runtime, inside its step', async () => {
    const { agent, records } = await agentWith({ extensions: [stepNoter] });
    await agent.say('time?');
    expect(removals(records)).toEqual([
      { targetId: 'note 0', author: 'runtime', stepId: 'turn-event-1.step-0' },
      { targetId: 'note 1', author: 'runtime', stepId: 'turn-event-1.step-1' },
    ]);
  });

  test('still exists for the layers outside its own until the step is over', async () => {
    const counted: number[] = [];
    const looker = extension('looker', ({ pipeline }) => {
      const count = (messages: readonly Message[]) =>
        counted.push(messages.filter(({ lifetime }) => lifetime === 'step').length);
      pipeline.register('step', async (ctx) => {
        const result = await ctx.next();
        count(ctx.conversationState.nextMessages);
        return result;
      });
      pipeline.register('turn', async (ctx) => {
        const result = await ctx.next();
        count(ctx.conversationState.nextMessages);
        return result;
      });
    });
    const { agent } = await agentWith({ extensions: [looker, stepNoter] });
    await agent.say('time?');
    expect(counted).toEqual([1, 1, 0]);
  });

  test('is removed from the history when its step failed for good', async () => {
    const { agent, records } = await agentWith({
      extensions: [stepNoter],
      script: [{ fail: { message: 'no more' } }],
    });
    const { result } = await agent.say('time?');
    expect(result.finishReason).toBe('error');
    expect(textsOf(await agent.messages())).toBe('time?');
    expect(removals(records)).toEqual([{ targetId: 'note 0', author: 'runtime', stepId: undefined }]);
  });

  test('is removed before its step is retried, and the retry may add it with the same id', async () => {
    const always = beforeNext('noter', 'step', (ctx) => ctx.emitMessageEvent(fading('step', 'note')));
    const { agent, seen } = await agentWith({
      extensions: [always],
      script: [{ fail: { message: 'overloaded', retryable: true, times: 2 } }, ...twoSteps],
    });
    await agent.say('time?');
    expect(seen()).toEqual(Array(4).fill('note'));
    expect(textsOf(await agent.messages())).toBe('time? |  |  | Seven.');
  });

  test('is removed before its step is retried, also when a tool had started', async () => {
    const always = oneLayer('noter', 'step', async (ctx) => {
      ctx.emitMessageEvent(fading('step', 'note'));
      const result = await ctx.next();
      if (ctx.stepIndex === 0) throw Object.assign(new Error('again'), { retryable: true });
      return result;
    });
    const { agent, seen } = await agentWith({ extensions: [always] });
    const { result } = await agent.say('time?');
    expect(result).toMatchObject({ finishReason: 'text_response' });
    expect(seen()).toEqual(['note', 'note']);
    expect(textsOf(await agent.messages())).toBe('time? |  |  | Seven.');
  });
});

describe('an ephemeral message of a turn', () => {
  const turnNoter = oneLayer('noter', 'turn', async (ctx) => {
    ctx.emitMessageEvent(fading('turn', 'early'));
    const result = await ctx.next();
    ctx.emitMessageEvent(fading('turn', 'late'));
    return result;
  });

  test('is seen by the model in every step of that turn, and is gone from the next turn and from the history', async () => {
    const { agent, records, seen } = await agentWith({ extensions: [turnNoter] });
    await agent.say('time?');
    await agent.say('time?');
    expect(seen()).toEqual(Array(4).fill('early'));
    expect(textsOf(await agent.messages())).toBe('time? |  |  | Seven. | time? |  |  | Seven.');
    const targets = ['early', 'late', 'early', 'late'];
    expect(removals(records)).toEqual(targets.map((targetId) => ({ targetId, author: 'runtime', stepId: undefined })));
  });

  test('survives a retried step, and is removed when the turn fails', async () => {
    const { agent, seen } = await agentWith({
      extensions: [turnNoter],
      script: [{ fail: { message: 'overloaded', retryable: true, times: 1 } }, { fail: { message: 'no more' } }],
    });
    const { result } = await agent.say('time?');
    expect(result.error?.message).toBe('no more');
    expect(seen()).toEqual(['early', 'early']);
    expect(textsOf(await agent.messages())).toBe('time?');
  });

  test('stays when a layer replaced it with a lasting message', async () => {
    const keeper = afterNext('keeper', 'turn', (_result, ctx) => {
      const message = createSystemMessage('kept', {}, { id: 'early' });
      ctx.emitMessageEvent({ type: 'replace', targetId: 'early', message });
    });
    const { agent } = await agentWith({ extensions: [keeper, turnNoter] });
    await agent.say('time?');
    expect(textsOf(await agent.messages())).toBe('time? | kept |  |  | Seven.');
  });
});
