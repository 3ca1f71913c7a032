import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createUserMessage, type Message, textOf } from '@goondan/types';
import { callIds, userMessages } from '../../history/testing/call-ids.ts';
import { importHistory } from '../../history/testing/import-history.ts';
import { randomHistory } from '../../history/testing/random-history.ts';
import type { WindowConfig } from './register.ts';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';

const openAgent = agentOpener();

const windowed = (config: WindowConfig) => baseExtension('message-window', config);

const texts = (messages: readonly Message[]) => messages.map(textOf);

describe('message-window', () => {
  test('B-04 keeps the newest messages, and makes room for a while', async () => {
    const tested = await openAgent({ extensions: [windowed({ maxMessages: 6, trimTo: 0.5 })] });
    for (const number of [1, 2, 3]) await tested.say(`${number}`);
    expect(texts(await tested.messages())).toHaveLength(6);
    await tested.say('4');
    expect(texts(await tested.messages())).toEqual(['3', 'You said: 3', '4', 'You said: 4']);
    await tested.say('5');
    expect(texts(await tested.messages())).toHaveLength(6);
  });

  test('B-04 keeps 80 messages when the config has no limit', async () => {
    const tested = await openAgent({ extensions: [importHistory(userMessages(77)), windowed({})] });
    await tested.say('import');
    await tested.say('within the limit');
    expect(tested.requests.at(-1)?.messages).toHaveLength(80);
    await tested.say('above the limit');
    expect(tested.requests.at(-1)?.messages).toHaveLength(60);
  });

  test('B-04 has no limit for messages when the config has one for tokens', async () => {
    const extensions = [importHistory(userMessages(200)), windowed({ maxTokens: 100_000 })];
    const tested = await openAgent({ extensions });
    await tested.say('import');
    await tested.say('next');
    expect(tested.requests.at(-1)?.messages).toHaveLength(203);
  });

  test('B-04 counts tokens too', async () => {
    const tested = await openAgent({
      script: [{ say: 'ok' }],
      extensions: [windowed({ maxTokens: 400, trimTo: 1 })],
    });
    await tested.say('a'.repeat(800));
    await tested.say('b'.repeat(800));
    await tested.say('c');
    expect(texts(await tested.messages())).toEqual(['b'.repeat(800), 'ok', 'c', 'ok']);
  });

  test('B-04 never removes pinned messages, and reports when they exceed the limit', async () => {
    const pinned = createUserMessage('remember this', { pinned: true }, { id: 'pinned' });
    const tested = await openAgent({ extensions: [importHistory([pinned]), windowed({ maxMessages: 1 })] });
    await tested.say('import');
    await tested.say('next');
    await tested.say('last');
    expect(texts(await tested.messages())).toEqual(['remember this', 'last', 'You said: last']);
    expect(tested.logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  test('B-04 also slides in a long turn: the question stays, old calls are removed with their results', async () => {
    const tested = await openAgent({
      script: [{ call: { tool: 'count__next' } }],
      policy: { maxStepsPerTurn: 8 },
      tools: [{ name: 'count', exports: [{ name: 'next', description: 'Counts.' }], handlers: { next: () => 1 } }],
      extensions: [windowed({ maxMessages: 6, trimTo: 0.6 })],
    });
    expect((await tested.say('count')).result.finishReason).toBe('max_steps');
    expect(tested.requests).toHaveLength(8);
    for (const { messages } of tested.requests) {
      expect(messages[0]).toMatchObject({ role: 'user', content: 'count' });
      expect(messages.length).toBeLessThanOrEqual(7);
      const roles = messages.slice(1).map(({ role }) => role);
      expect(roles).toEqual(roles.map((_, index) => (index % 2 === 0 ? 'assistant' : 'tool')));
    }
  });

  test('B-04 on random histories: the model gets messages within the limit or needed ones, pairs are complete, pinned messages stay', async () => {
    await fc.assert(
      fc.asyncProperty(randomHistory(), fc.integer({ min: 1, max: 20 }), async (history, maxMessages) => {
        const tested = await openAgent({ extensions: [importHistory(history), windowed({ maxMessages })] });
        await tested.say('import');
        await tested.say('question');
        const kept = (await tested.messages()).slice(0, -1);
        const pinnedIds = history.filter(({ metadata }) => metadata.pinned === true).map(({ id }) => id);
        expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(pinnedIds));
        const isLoose = ({ metadata, data }: Message) =>
          metadata.pinned !== true && textOf({ data } as Message) !== 'question';
        const callsOfPinned = kept.filter(isLoose).filter((message) => !belongsToPinned(message, kept));
        if (kept.length > maxMessages) expect(callsOfPinned).toEqual([]);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

/** Tells whether the message is a tool call whose result is pinned, or a result whose call is pinned. */
function belongsToPinned(message: Message, all: readonly Message[]): boolean {
  const ids = callIds(message);
  const group = all.filter((other) => callIds(other).some((id) => ids.includes(id)));
  return group.some(({ metadata }) => metadata.pinned === true) || group.some((other) => isFamilyOfPinned(other, all));
}

/**
 * Tells whether another tool result of the same assistant message is pinned. All results of one message are kept
 * together.
 */
function isFamilyOfPinned(message: Message, all: readonly Message[]): boolean {
  const ids = callIds(message);
  return all.some(
    ({ metadata, ...other }) =>
      metadata.pinned === true && callIds({ ...other, metadata }).some((id) => ids.includes(id)),
  );
}
