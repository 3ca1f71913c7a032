import { describe, expect, test } from 'bun:test';
import { createSystemMessage, type Message, type MessageEvent, textOf } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { afterNext, beforeNext, oneLayer } from '../../testing/one-layer.ts';
import { fold } from '../../testing/fold.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const says = (text: string): MessageEvent => ({ type: 'append', message: createSystemMessage(text) });
const textsOf = (messages: readonly Message[]) => messages.map((message) => textOf(message)).join(' | ');
const again = () => Object.assign(new Error('again'), { retryable: true });

function counter() {
  const calls: string[] = [];
  const tool: ToolDeclaration = {
    name: 'counter',
    exports: [{ name: 'add', description: 'Counts.' }],
    handlers: {
      add: (ctx) => {
        calls.push(ctx.toolCallId);
        return calls.length;
      },
    },
  };
  return { calls, tool };
}
const countScript = [
  { when: '.', call: { tool: 'counter__add' } },
  { afterTool: 'counter__add', say: 'Counted to {{result}}.' },
];

describe('a retried step', () => {
  test('M-01 leaves no events: nextMessages is the base and the other events, and the retry has its own index and id', async () => {
    const steps: { index: number; before: string }[] = [];
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'overloaded', retryable: true, times: 2 } }, { say: 'Hi.' }],
      extensions: [
        extension('noter', ({ pipeline }) => {
          pipeline.register('turn', async (ctx) => {
            ctx.emitMessageEvent(says('turn note'));
            const result = await ctx.next();
            const { baseMessages, events, nextMessages } = ctx.conversationState;
            expect<readonly Message[]>(nextMessages).toEqual(fold(baseMessages, events));
            return result;
          });
          pipeline.register('step', (ctx) => {
            steps.push({ index: ctx.stepIndex, before: textsOf(ctx.conversationState.nextMessages) });
            ctx.emitMessageEvent(says(`note ${ctx.stepIndex}`));
            return ctx.next();
          });
        }),
      ],
    });
    const { result, stepCount } = await agent.say('hello');
    expect(steps).toEqual([0, 1, 2].map((index) => ({ index, before: 'hello | turn note' })));
    expect(agent.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(['note 0', 'note 1', 'note 2']);
    expect(textsOf(await agent.messages())).toBe('hello | turn note | note 2 | Hi.');
    expect(result.responseMessage?.source).toEqual({ type: 'assistant', stepId: 'turn-event-1.step-2' });
    expect(stepCount).toBe(1);
    const failures = agent.told.filter(({ name }) => name === 'step.failed').map(({ payload }) => payload);
    expect(failures).toMatchObject([
      { stepId: 'turn-event-1.step-0', willRetry: true },
      { stepId: 'turn-event-1.step-1', willRetry: true },
    ]);
  });

  test('M-03 keeps the events that a layer emitted after the failure had reached it, and drops the others', async () => {
    const layer = (name: string) =>
      oneLayer(name, 'step', async (ctx) => {
        ctx.emitMessageEvent(says(`${name} before ${ctx.stepIndex}`));
        try {
          return await ctx.next();
        } catch (error) {
          ctx.emitMessageEvent(says(`${name} caught ${ctx.stepIndex}`));
          // The inner layer throws another error than it caught; the failure is still the same.
          throw name === 'inner' ? Object.assign(new Error('wrapped'), { cause: error, retryable: true }) : error;
        } finally {
          ctx.emitMessageEvent(says(`${name} after ${ctx.stepIndex}`));
        }
      });
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'overloaded', retryable: true, times: 1 } }, { say: 'Hi.' }],
      extensions: [
        afterNext('checker', 'turn', (_result, ctx) => {
          const { baseMessages, events, nextMessages } = ctx.conversationState;
          expect<readonly Message[]>(nextMessages).toEqual(fold(baseMessages, events));
        }),
        layer('outer'),
        layer('inner'),
      ],
    });
    await agent.say('hello');
    const stayed = 'hello | inner caught 0 | inner after 0 | outer caught 0 | outer after 0';
    const shown = `${stayed} | outer before 1 | inner before 1`;
    expect(agent.requests[1]?.messages.map(({ content }) => content)).toEqual(shown.split(' | '));
    expect(textsOf(await agent.messages())).toBe(`${shown} | Hi. | inner after 1 | outer after 1`);
  });

  test('drops an event from after a failure that a layer recovered from: the retry has another reason', async () => {
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'overloaded', retryable: true, times: 1 } }, { say: 'Hi.' }],
      extensions: [
        afterNext('strict', 'step', (_result, ctx) => {
          ctx.emitMessageEvent(says('seen'));
          if (ctx.stepIndex === 0) throw again();
        }),
        oneLayer('lenient', 'step', async (ctx) => {
          try {
            return await ctx.next();
          } catch {
            ctx.emitMessageEvent(says('recovered'));
            return { status: 'completed', hasToolCalls: false, toolCalls: [], toolResults: [], metadata: {} };
          }
        }),
      ],
    });
    await agent.say('hello');
    expect(textsOf(await agent.messages())).toBe('hello | Hi. | seen');
  });

  test('M-08 keeps changes of older messages; an event that needs a dropped one is ignored, with a warning', async () => {
    const note = (id: string, text: string, lifetime?: 'step') =>
      createSystemMessage(text, {}, { id, ...(lifetime && { lifetime }) });
    const agent = await scriptedAgent({
      script: [{ when: 'two', fail: { message: 'overloaded', retryable: true, times: 1 } }, { say: 'Hi.' }],
      extensions: [
        oneLayer('tidy', 'step', async (ctx) => {
          if (ctx.turn.inputEvent.input !== 'two' || ctx.stepIndex > 0) return ctx.next();
          const emit = (event: MessageEvent) => ctx.emitMessageEvent(event);
          emit({ type: 'append', message: note('draft', 'draft') });
          emit({ type: 'append', message: note('plan', 'plan') });
          emit({ type: 'remove', targetId: 'turn-event-1.input' });
          return ctx.next().catch((error: unknown) => {
            emit({ type: 'append', message: note('short', 'for this step', 'step') });
            emit({ type: 'remove', targetId: 'draft' });
            emit({ type: 'replace', targetId: 'plan', message: note('plan-b', 'plan b') });
            emit({ type: 'append', message: note('turn-event-1.input', 'again') });
            emit({ type: 'append', message: note('kept', 'kept') });
            emit({ type: 'replace', targetId: 'kept', message: note('kept', 'kept, changed') });
            throw error;
          });
        }),
      ],
    });
    await agent.say('one');
    await agent.say('two');
    expect(textsOf(await agent.messages())).toBe('one | Hi. | two | kept, changed | Hi.');
    const warning = { level: 'warn', extension: 'tidy', turnId: 'turn-event-2' };
    expect(agent.logs.filter(({ event }) => event === 'message.ignored')).toMatchObject([
      { ...warning, message: expect.stringMatching(/^replace was ignored:/) },
      { ...warning, message: expect.stringMatching(/^append was ignored:/) },
    ]);
  });

  test('M-01 leaves the base unchanged', async () => {
    const agent = await scriptedAgent({
      extensions: [
        oneLayer('sweeper', 'step', async (ctx) => {
          const result = await ctx.next();
          if (ctx.turn.inputEvent.input !== 'two' || ctx.stepIndex > 0) return result;
          ctx.emitMessageEvent({ type: 'remove', targetId: 'turn-event-1.input' });
          ctx.emitMessageEvent({ type: 'truncate' });
          throw again();
        }),
      ],
    });
    await agent.say('one');
    await agent.say('two');
    expect(textsOf(await agent.messages())).toBe('one | You said: one | two | You said: two');
    expect(agent.requests[2]?.messages).toEqual(agent.requests[1]?.messages ?? []);
    await agent.say('three');
    expect(agent.requests[3]?.messages).toHaveLength(5);
  });

  test('keeps its events once a tool has started: the tool’s effects cannot be dropped', async () => {
    const { calls, tool } = counter();
    const agent = await scriptedAgent({
      tools: [tool],
      script: countScript,
      extensions: [
        oneLayer('unlucky', 'step', async (ctx) => {
          ctx.emitMessageEvent(says(`note ${ctx.stepIndex}`));
          const result = await ctx.next();
          if (ctx.stepIndex === 0) throw again();
          return result;
        }),
      ],
    });
    const { text } = await agent.say('count');
    expect(text).toBe('Counted to 1.');
    expect(calls).toEqual(['call_1']);
    expect(textsOf(await agent.messages())).toBe('count | note 0 |  |  | note 1 | Counted to 1.');
    expect(agent.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'system',
      'assistant',
      'tool',
      'system',
    ]);
  });

  test('keeps its events also when a layer of the step had called the tool', async () => {
    const { calls, tool } = counter();
    const agent = await scriptedAgent({
      tools: [tool],
      extensions: [
        oneLayer('caller', 'step', async (ctx) => {
          if (ctx.stepIndex > 0) return ctx.next();
          await ctx.tools.call('counter__add');
          ctx.emitMessageEvent(says('counted'));
          throw again();
        }),
      ],
    });
    await agent.say('hello');
    expect(calls).toHaveLength(1);
    expect(textsOf(await agent.messages())).toBe('hello | counted | You said: hello');
  });

  test('M-07 fails the turn when it failed too often, and the events of the last try are kept', async () => {
    const agent = await scriptedAgent({
      policy: { maxStepRetries: 1 },
      script: [{ fail: { message: 'overloaded', retryable: true } }],
      extensions: [beforeNext('noter', 'step', (ctx) => ctx.emitMessageEvent(says(`note ${ctx.stepIndex}`)))],
    });
    const { result } = await agent.say('hello');
    expect(result).toMatchObject({ finishReason: 'error', error: { message: 'overloaded' } });
    expect(textsOf(await agent.messages())).toBe('hello | note 1');
  });
});
