import { describe, expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { breakpoint, setBreakpoints } from './set-breakpoints.ts';

const cache = { provider: 'anthropic', mostMarks: 4, lookback: 20, leastTokens: 1 };
const { providerOptions: mark } = breakpoint('anthropic');
const says = (text: string): ModelMessage => ({ role: 'user', content: text });

function marksIn(messages: readonly ModelMessage[], stableCount = messages.length): readonly number[] {
  const marked = setBreakpoints({ messages, tools: [], stableCount }, 'joined', cache, undefined);
  return marked.messages.flatMap(({ providerOptions }, place) => (providerOptions === undefined ? [] : [place]));
}

describe('Y-05 a breakpoint', () => {
  test('is not on reasoning or an empty text, which the provider would refuse', () => {
    const thinks: ModelMessage = { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }] };
    const empty: ModelMessage = { role: 'assistant', content: [{ type: 'text', text: '' }] };
    for (const last of [thinks, empty, says('')]) expect(marksIn([says('one'), last])).toEqual([0]);
  });

  test('of a layer stays as it is', () => {
    const own = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } };
    const { messages } = setBreakpoints(
      { messages: [{ ...says('one'), providerOptions: own }], tools: [], stableCount: 1 },
      'joined',
      cache,
      undefined,
    );
    expect(messages[0]?.providerOptions).toEqual(own);
  });

  test('is before the last reply, too, as soon as the provider would not look back so far', () => {
    const reply = (blocks: number): ModelMessage => ({
      role: 'assistant',
      content: Array.from({ length: blocks }, (_, block) => ({ type: 'text' as const, text: `${block}` })),
    });
    expect(marksIn([says('one'), reply(18), says('two')])).toEqual([2]);
    expect(marksIn([says('one'), reply(19), says('two')])).toEqual([0, 2]);
  });

  test('is not on a system prompt that is joined with a text that does not stay', () => {
    const system = (content: string): ModelMessage => ({ role: 'system', content });
    expect(marksIn([system('Be kind.'), says('one'), system('It is noon.')], 2)).toEqual([]);
    expect(marksIn([system('Be kind.'), says('one')])).toEqual([0, 1]);
    expect(mark).toEqual({ anthropic: { cacheControl: { type: 'ephemeral' } } });
  });
});
