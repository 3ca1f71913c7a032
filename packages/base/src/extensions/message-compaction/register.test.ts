import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createUserMessage, GoondanError, type Message, textOf } from '@goondan/types';
import { memoryStore } from '@goondan/runtime/history';
import { extension } from '@goondan/runtime/testing';
import { estimateTokens } from '../../history/estimate-tokens.ts';
import { callIds, userMessages } from '../../history/testing/call-ids.ts';
import { importHistory } from '../../history/testing/import-history.ts';
import { randomHistory } from '../../history/testing/random-history.ts';
import type { CompactionConfig } from './limits.ts';
import { summarise } from './summarise.ts';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';

const openAgent = agentOpener();

const compacting = (config: CompactionConfig) => baseExtension('message-compaction', config, 'compaction');

const script = [{ when: '^Sum up', say: 'They counted.' }, { say: 'You said: {{input}}' }];
const summary = 'Summary of the earlier conversation:\nThey counted.';
const texts = (messages: readonly Message[]) => messages.map(textOf);

describe('message-compaction', () => {
  test('B-03 a summary replaces the oldest messages; the model is asked once, and nothing of it is streamed', async () => {
    const tested = await openAgent({ script, extensions: [compacting({ maxMessages: 6 })] });
    for (const number of [1, 2, 3]) await tested.say(`${number}`);
    expect(tested.requests).toHaveLength(3);
    const fourth = await tested.say('4');
    expect(texts(await tested.messages())).toEqual([summary, '3', 'You said: 3', '4', 'You said: 4']);
    expect(tested.requests).toHaveLength(5);
    expect(fourth.deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('')).toBe('You said: 4');
    const [first] = await tested.messages();
    expect(first?.metadata).toEqual({ 'compaction.summary': true, 'compaction.replaced': 4 });
  });

  test('B-03 compacts more than 40 messages when the config has no limit', async () => {
    const tested = await openAgent({ script, extensions: [importHistory(userMessages(37)), compacting({})] });
    await tested.say('import');
    await tested.say('within the limit');
    expect(tested.requests.at(-1)?.messages).toHaveLength(40);
    await tested.say('above the limit');
    expect(texts(await tested.messages())[0]).toBe(summary);
    expect(tested.requests.at(-1)?.messages).toHaveLength(21);
  });

  test('B-03 has no limit for messages when the config has one for tokens', async () => {
    const extensions = [importHistory(userMessages(60)), compacting({ maxTokens: 100_000 })];
    const tested = await openAgent({ script, extensions });
    await tested.say('import');
    await tested.say('next');
    expect(tested.requests.at(-1)?.messages).toHaveLength(63);
  });

  test('B-03 the last summary is summarised with the messages after it', async () => {
    const tested = await openAgent({ script, extensions: [compacting({ maxMessages: 3 })] });
    for (let number = 1; number <= 6; number += 1) await tested.say(`number ${number}`);
    const asked = tested.requests.flatMap(({ messages }) =>
      messages.map(({ content }) => (typeof content === 'string' ? content : '')),
    );
    expect(asked.some((text) => text.startsWith('Sum up') && text.includes(`system: ${summary}`))).toBe(true);
    expect((await tested.messages()).filter(({ metadata }) => metadata['compaction.summary'] === true)).toHaveLength(1);
  });

  test('B-03 the summary itself is within the limits, however little is trimmed', async () => {
    const history = ['a', 'b', 'c'].map((text) => createUserMessage(text, {}, { id: text }));
    const extensions = [importHistory(history), compacting({ maxMessages: 5, trimTo: 1 })];
    const tested = await openAgent({ script, extensions });
    await tested.say('import');
    await tested.say('next');
    expect(texts(await tested.messages())).toEqual([summary, 'b', 'c', 'You said: c', 'next', 'You said: next']);
    expect(tested.requests.at(-1)?.messages).toHaveLength(5);
  });

  test('B-03 also summarises tool calls in a long turn: the question stays, and the model gets messages within the limit', async () => {
    const tested = await openAgent({
      script: [{ when: '^Sum up', say: 'They counted.' }, { call: { tool: 'count__next' } }],
      policy: { maxStepsPerTurn: 8 },
      tools: [{ name: 'count', exports: [{ name: 'next', description: 'Counts.' }], handlers: { next: () => 1 } }],
      extensions: [compacting({ maxMessages: 6 })],
    });
    expect((await tested.say('count')).result.finishReason).toBe('max_steps');
    const steps = tested.requests.filter(({ messages }) => messages.some(({ content }) => content === 'count'));
    expect(steps).toHaveLength(8);
    for (const { messages } of steps) expect(messages.length).toBeLessThanOrEqual(6);
    expect(steps.at(-1)?.messages.some(({ content }) => content === summary)).toBe(true);
    expect(JSON.stringify(tested.requests)).toContain('(calls count__next) {}');
  });

  test('replaced messages stay in the archive', async () => {
    const store = memoryStore();
    const committed: string[] = [];
    const watched = {
      ...store,
      commit: (...all: Parameters<typeof store.commit>) => {
        committed.push(JSON.stringify(all));
        return store.commit(...all);
      },
    };
    const tested = await openAgent({ script, store: watched, extensions: [compacting({ maxMessages: 2 })] });
    await tested.say('my cat is called Tama');
    await tested.say('and my dog Pochi');
    expect(texts(await tested.messages()).join()).not.toContain('Tama');
    expect(committed.join()).toContain('Tama');
  });

  test('B-03 with "marked", only marked messages are replaced', async () => {
    const history = [1, 2, 3, 4].map((number) =>
      createUserMessage(`${number}`, number % 2 === 0 ? { 'compaction.eligible': true } : {}, { id: `m${number}` }),
    );
    const tested = await openAgent({
      script,
      extensions: [importHistory(history), compacting({ maxMessages: 4, eligible: 'marked' })],
    });
    await tested.say('import');
    await tested.say('next');
    expect(texts(await tested.messages())).toEqual([
      'import',
      '1',
      summary,
      '3',
      'You said: 4',
      'next',
      'You said: next',
    ]);
  });

  test('another agent can summarise', async () => {
    const asked: string[] = [];
    const engine = {
      catalog: () => [{ name: 'clerk' }],
      list: async () => [],
      deliver: async () => ({ accepted: true as const }),
      request: async (to: { agentName: string }, event: { input?: string }) => {
        asked.push(`${to.agentName}: ${event.input}`);
        return {
          turnId: 't',
          finishReason: 'text_response' as const,
          responseMessage: createUserMessage('They counted.'),
        };
      },
    };
    const tested = await openAgent({
      script,
      engine,
      extensions: [compacting({ maxMessages: 2, agent: 'clerk' })],
    });
    await tested.say('1');
    await tested.say('2');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/^clerk: Sum up[\s\S]*user: 1/);
    expect(texts(await tested.messages())[0]).toBe(summary);
  });

  test('a failed summary removes nothing, is logged, and is tried again only in the next turn', async () => {
    let fails = true;
    let tries = 0;
    const flaky = extension('flaky', ({ pipeline }) => {
      pipeline.register('model', (ctx) => {
        if (ctx.extension === undefined) return ctx.next();
        tries += 1;
        if (fails) throw new GoondanError('E_MODEL_REPLY', 'out of order');
        return ctx.next();
      });
    });
    const tested = await openAgent({
      script: [
        { when: '^Sum up', say: 'They counted.' },
        { afterTool: 'count__next', say: 'done' },
        { call: { tool: 'count__next' } },
      ],
      tools: [{ name: 'count', exports: [{ name: 'next', description: 'Counts.' }], handlers: { next: () => 1 } }],
      extensions: [compacting({ maxMessages: 2 }), flaky],
    });
    await tested.say('first');
    tries = 0;
    expect((await tested.say('second')).result.finishReason).toBe('text_response');
    expect(tries).toBe(1);
    expect(texts(await tested.messages())).toContain('first');
    expect(tested.logs.map(({ message }) => message).join()).toContain('nothing was removed: ');
    fails = false;
    await tested.say('third');
    expect(texts(await tested.messages())).not.toContain('first');
  });

  test('a summary is cut to its limit, and an empty one is an error', async () => {
    const layer = (text: string) => ({
      model: {
        generate: async () => ({ content: [{ type: 'text' as const, text }], finishReason: 'stop' as const, usage }),
      },
      agents: { request: () => Promise.reject(new Error('not asked')) } as never,
    });
    const messages = [createUserMessage('hi')];
    expect(await summarise(layer('word '.repeat(100)), messages, 10, {})).toBe(
      `Summary of the earlier conversation:\n${'word '.repeat(8)}`.trimEnd(),
    );
    expect(summarise(layer('  \n'), messages, 10, {})).rejects.toThrow('empty summary');
  });

  test('a long history is summarised piece by piece, each with the summary so far', async () => {
    const asked: string[] = [];
    const layer = {
      model: {
        generate: async ({ messages }: { messages: readonly { content: unknown }[] }) => {
          asked.push(String(messages[0]?.content));
          return {
            content: [{ type: 'text' as const, text: `summary ${asked.length}` }],
            finishReason: 'stop' as const,
            usage,
          };
        },
      },
      agents: { request: () => Promise.reject(new Error('not asked')) } as never,
    };
    const messages = Array.from({ length: 30 }, (_, index) => createUserMessage(`${index} ${'x'.repeat(10_000)}`));
    expect(await summarise(layer, messages, 100, {})).toEndWith('summary 4');
    expect(asked).toHaveLength(4);
    expect(asked.slice(1).every((text, index) => text.includes(`summary ${index + 1}\n`))).toBe(true);
    expect(Math.max(...asked.map(({ length }) => length))).toBeLessThan(101_000);
  });

  test('B-03 on random histories: limits are met or nothing is left to replace, pairs are complete, pinned messages stay', async () => {
    await fc.assert(
      fc.asyncProperty(randomHistory(), fc.integer({ min: 2, max: 20 }), async (history, maxMessages) => {
        const tested = await openAgent({
          script,
          extensions: [importHistory(history), compacting({ maxMessages, maxTokens: 3_000 })],
        });
        await tested.say('import');
        await tested.say('question');
        const kept = (await tested.messages()).slice(0, -1);
        // Ephemeral messages do not count, because they are removed in any case.
        const lasting = history.filter(({ lifetime }) => lifetime === undefined);
        const pinned = history.filter(({ metadata }) => metadata.pinned === true).map(({ id }) => id);
        expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(pinned));
        const summaries = kept.filter(({ metadata }) => metadata['compaction.summary'] === true);
        expect(summaries.length).toBeLessThanOrEqual(1);
        const isOver = kept.length > maxMessages || kept.reduce((sum, each) => sum + estimateTokens(each), 0) > 3_000;
        const isTied = ({ metadata }: Message) => metadata.pinned === true || metadata['compaction.summary'] === true;
        const loose = kept.filter((message) => !isTied(message) && callIds(message).length === 0);
        if (isOver) expect(loose.map(textOf)).toEqual(['question']);
        for (const message of kept)
          for (const id of callIds(message)) expect(partners(id, kept)).toBe(partners(id, lasting));
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

function partners(id: string, all: readonly Message[]): number {
  return all.filter((message) => callIds(message).includes(id)).length;
}
