import { describe, expect, test } from 'bun:test';
import type { TurnDelta } from '@goondan/types';
import fc from 'fast-check';
import { StreamedText } from './streamed-text.ts';

const text = (stepIndex: number, words: string): TurnDelta => ({
  type: 'text',
  text: words,
  turnId: 't',
  stepId: `s${stepIndex}`,
  stepIndex,
});
const discard = (stepIndex: number): TurnDelta => ({
  type: 'discard',
  turnId: 't',
  stepId: `s${stepIndex}`,
  stepIndex,
});
const reasoning: TurnDelta = { type: 'reasoning', text: 'hm', turnId: 't', stepId: 's0', stepIndex: 0 };

/** Returns all text that is sent for these deltas and this response. */
function stream(deltas: readonly TurnDelta[], response: string): string {
  const streamed = new StreamedText();
  const pieces = deltas.map((delta) => streamed.add(delta));
  pieces.push(streamed.finish(response));
  expect(pieces.join('')).toBe(streamed.sent);
  return streamed.sent;
}

describe('streamed text', () => {
  test.each<[what: string, deltas: TurnDelta[], response: string, sent: string]>([
    ['a text in pieces', [text(0, 'Hel'), text(0, 'lo.')], 'Hello.', 'Hello.'],
    ['nothing streamed', [], 'Hello.', 'Hello.'],
    ['nothing at all', [], '', ''],
    ['thoughts', [reasoning, text(0, 'Hello.')], 'Hello.', 'Hello.'],
    ['a text before a tool call', [text(0, 'Let me see.'), text(1, 'It is 7.')], 'It is 7.', 'Let me see.\n\nIt is 7.'],
    ['a text before a tool call, the rest held back', [text(0, 'Let me see.')], 'It is 7.', 'Let me see.\n\nIt is 7.'],
    ['a step that is tried again', [text(0, 'Hel'), discard(0), text(1, 'Hello.')], 'Hello.', 'Hel\n\nHello.'],
    ['a step that had said nothing and is tried again', [discard(0), text(1, 'Hello.')], 'Hello.', 'Hello.'],
    ['the last piece lost', [text(0, 'Hel')], 'Hello.', 'Hello.'],
    ['a piece in the middle lost', [text(0, 'H'), text(0, 'o.')], 'Hello.', 'Ho.\n\nHello.'],
    ['another answer than was streamed', [text(0, 'secret')], '***', 'secret\n\n***'],
    ['no answer after all', [text(0, 'Hel')], '', 'Hel'],
  ])('%s', (_, deltas, response, sent) => {
    expect(stream(deltas, response)).toBe(sent);
  });

  test('always ends with the whole answer', () => {
    const piece = fc.tuple(fc.nat(2), fc.constantFrom('a', 'ab', ' ', 'b\n', ''));
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.constantFrom('a', 'ab', ' ', 'b\n')), (pieces, words) => {
        const deltas = pieces.toSorted(([a], [b]) => a - b).map(([step, words_]) => text(step, words_));
        const response = words.join('');
        expect(stream(deltas, response)).toEndWith(response);
      }),
    );
  });
});
