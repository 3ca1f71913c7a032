import { describe, expect, test } from 'bun:test';
import { pendingInputs, toldInputs } from './sent-inputs.ts';

const sent = [
  { turnId: 'turn-a', eventId: 'a', text: 'one' },
  { turnId: 'turn-b', eventId: 'b', text: 'two' },
];
const nothing: ReadonlySet<string> = new Set();

describe('inputs without a finished turn', () => {
  test('are shown until their turn is committed, or they become dead letters', () => {
    expect(pendingInputs(sent, nothing, [])).toEqual(sent);
    expect(pendingInputs(sent, new Set(['turn-a']), []).map(({ text }) => text)).toEqual(['two']);
    const letter = { agent: 'a', instanceKey: 'k', eventId: 'b', crashes: 3, reason: '', deadAt: '' };
    expect(pendingInputs(sent, nothing, [letter]).map(({ text }) => text)).toEqual(['one']);
  });

  test('Y-08 are shown until another turn has taken them: then the conversation has their message', () => {
    const messages = [{ message: { id: 'turn-x.step-0.reply' } }, { message: { id: 'turn-a.input' } }];
    expect(toldInputs(messages)).toEqual(['turn-a']);
    expect(pendingInputs(sent, new Set(toldInputs(messages)), []).map(({ text }) => text)).toEqual(['two']);
  });

  test('include those of others, while their turn runs', () => {
    const texts = (turnId: string, told = nothing) =>
      pendingInputs(sent, told, [], running(turnId)).map(({ text }) => text);
    expect(texts('turn-c')).toEqual(['theirs', 'one', 'two']);
    expect(texts('turn-a')).toEqual(['one', 'two']);
    expect(texts('turn-c', new Set(['turn-c']))).toEqual(['one', 'two']);
  });
});

function running(turnId: string) {
  const ids = { turnId, shortId: turnId, traceId: 'x', spanId: 'y', agentName: 'a', instanceKey: 'k' };
  return { ...ids, source: { kind: 'cli', name: 'gdn' } as const, startedAt: '', input: 'theirs', resumes: 0 };
}
