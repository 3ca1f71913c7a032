import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Message } from '@goondan/types';
import { samples } from '../../../../test/samples.ts';
import { callIds } from './testing/call-ids.ts';
import { type HistoryOptions, randomHistory } from './testing/random-history.ts';
import { chooseRemoved, type Question } from './choose-removed.ts';
import type { HistoryLimits } from './history-limits.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { groupMessages } from './group-messages.ts';

const limits = fc.record(
  { maxMessages: fc.integer({ min: 1, max: 40 }), maxTokens: fc.integer({ min: 1, max: 2_000 }) },
  { requiredKeys: [] },
);
const question = (options?: HistoryOptions) =>
  fc
    .record({ messages: randomHistory(options), limits, trimTo: fc.double({ min: 0.1, max: 1, noNaN: true }) })
    .map(({ messages, limits: most, trimTo }): Question => {
      const scale = (value: number | undefined) => (value === undefined ? {} : Math.floor(value * trimTo));
      const targets = Object.fromEntries(Object.entries(most).map(([key, value]) => [key, scale(value)]));
      return { messages, limits: most, targets, isProtected: ({ id }) => id === messages.at(-1)?.id };
    });

const RUNS = samples(2_000, 20);

describe('the messages removed from a random history', () => {
  test('B-03 B-04 never separate a tool call from its result', () => {
    fc.assert(
      fc.property(question(), (asked) => {
        const gone = new Set(chooseRemoved(asked).removed);
        for (const { messages } of groupMessages(asked.messages)) {
          expect(new Set(messages.map((message) => gone.has(message))).size).toBe(1);
        }
        expect(danglingIn(asked.messages.filter((message) => !gone.has(message)))).toEqual(
          danglingIn(asked.messages).filter((id) => ![...gone].flatMap(callIds).includes(id)),
        );
      }),
      { numRuns: RUNS },
    );
  });

  test('B-03 B-04 are never pinned, protected or ephemeral', () => {
    fc.assert(
      fc.property(question(), (asked) => {
        for (const message of chooseRemoved(asked).removed) {
          expect(message.metadata).toEqual({});
          expect(asked.isProtected(message)).toBe(false);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('B-03 B-04 are enough for the limits, or all there was to remove', () => {
    fc.assert(
      fc.property(question(), (asked) => {
        const { removed, isEnough } = chooseRemoved(asked);
        const gone = new Set(removed);
        const kept = asked.messages.filter((message) => !gone.has(message));
        expect(isWithin(kept, asked.limits)).toBe(isEnough);
        if (isEnough) return;
        const left = groupMessages(kept).filter(
          ({ isFixed, messages }) => !isFixed && !messages.some(asked.isProtected),
        );
        expect(left).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test('B-03 B-04 are none within the limits, and no more than the targets need, except for the answer to a question', () => {
    fc.assert(
      fc.property(question(), (asked) => {
        const { removed } = chooseRemoved(asked);
        if (isWithin(asked.messages, asked.limits)) return expect(removed).toEqual([]);
        const questions = groupMessages(removed).filter(({ messages: [first] }) => isQuestion(first));
        const last = removed.slice(removed.indexOf(questions.at(-1)?.messages[0] ?? removed[0] ?? never));
        const gone = new Set(removed.filter((message) => !last.includes(message)));
        if (removed.length > 0)
          expect(
            isWithin(
              asked.messages.filter((each) => !gone.has(each)),
              asked.targets,
            ),
          ).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  test('are the oldest', () => {
    fc.assert(
      fc.property(question({ plain: true }), ({ messages, ...asked }) => {
        const { removed } = chooseRemoved({ messages, ...asked, isProtected: () => false });
        expect(removed).toEqual(messages.slice(0, removed.length));
      }),
      { numRuns: samples(500) },
    );
  });
});

/** A fallback for the type checker; the list is never empty here. */
const never: Message = {
  id: '',
  data: { role: 'user', content: '' },
  metadata: {},
  createdAt: new Date(0),
  source: { type: 'user' },
};

function isQuestion(message: Message | undefined): boolean {
  return message?.data.role === 'user' || message?.data.role === 'system';
}

function isWithin(
  messages: readonly Message[],
  { maxMessages = Infinity, maxTokens = Infinity }: HistoryLimits,
): boolean {
  return messages.length <= maxMessages && messages.reduce((sum, each) => sum + estimateTokens(each), 0) <= maxTokens;
}

/** Lists calls without a result and results without a call. Random histories may already contain some. */
function danglingIn(messages: readonly Message[]): string[] {
  return messages.flatMap(callIds).filter((id, _, all) => all.filter((each) => each === id).length % 2 === 1);
}
