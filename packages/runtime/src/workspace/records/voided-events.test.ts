import { expect, test } from 'bun:test';
import { createUserMessage } from '@goondan/types';
import fc from 'fast-check';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { readTurnLog } from '../../agent/conversation/turn-log.ts';
import { voidedEvents } from './voided-events.ts';

const event = (targetId: string, stepId?: string): TurnRecord => ({
  type: 'message',
  event: { type: 'remove', targetId },
  author: { kind: 'runtime' },
  ...(stepId !== undefined && { stepId }),
});
const entered: TurnRecord = { type: 'entered', metadata: {}, extensionState: {} };
const resumed: TurnRecord = { type: 'resumed' };
const step = (
  stepId: string,
  outcome: 'completed' | 'dropped' | 'kept',
  survivors?: readonly number[],
): TurnRecord => ({
  ...(survivors && { survivors }),
  type: 'step',
  stepId,
  stepIndex: 0,
  outcome,
  toolResults: [],
  metadata: {},
  extensionState: {},
});

function voided(...records: TurnRecord[]): string[] {
  const found = voidedEvents(records.map((record) => ({ record })));
  return Array.from(found, ({ record }) =>
    record.type === 'message' && record.event.type === 'remove' ? record.event.targetId : '',
  );
}

test('everything counts without a crash or a dropped step', () => {
  expect(voided(event('a'), entered, event('b', 's'), step('s', 'completed'), event('c'))).toEqual([]);
  expect(voided(event('a'), entered, event('b', 's'), step('s', 'kept'))).toEqual([]);
});

test('a crash voids the events after the last entered or step record', () => {
  expect(voided(event('a'), resumed, event('a'), entered)).toEqual(['a']);
  expect(voided(event('a'), entered, event('b', 's'), resumed, event('b', 's'), step('s', 'completed'))).toEqual(['b']);
  expect(voided(event('a'), entered, event('b', 's'), step('s', 'completed'), event('c'), resumed, event('d'))).toEqual(
    ['c'],
  );
});

test('a second crash voids only the events after the first one', () => {
  expect(voided(event('a'), entered, event('b', 's'), resumed, resumed, event('c', 's'), resumed)).toEqual(['b', 'c']);
});

test('a dropped step voids all events that were not sealed before', () => {
  expect(voided(event('a'), entered, event('b', 's'), event('c'), step('s', 'dropped'), event('d'))).toEqual([
    'b',
    'c',
  ]);
});

test('the survivors of a dropped step count, by their position from the last event', () => {
  const events = [event('a', 's'), event('b', 's'), event('c', 's')];
  expect(voided(entered, ...events, step('s', 'dropped', [1]))).toEqual(['a', 'b']);
  expect(voided(entered, ...events, step('s', 'dropped', [3, 1]), resumed)).toEqual(['b']);
  expect(voided(entered, event('x'), resumed, ...events, step('s', 'dropped', [2]))).toEqual(['x', 'a', 'c']);
});

test('the input counts at once, and seals the events before it', () => {
  const message = createUserMessage('hello');
  const input: TurnRecord = { type: 'message', event: { type: 'append', message }, author: { kind: 'input' } };
  expect(voided(event('a'), input, event('b'), resumed)).toEqual(['b']);
});

test('an input that comes back after a truncate seals nothing', () => {
  const message = createUserMessage('hello', {}, { id: 'i' });
  const author = { kind: 'input', again: true } as const;
  const again: TurnRecord = { type: 'message', event: { type: 'append', message }, author };
  expect(voided(event('a'), again, event('b'), resumed)).toHaveLength(3);
});

test('the turn loop counts the same events', () => {
  const records = fc.array(
    fc.oneof(
      fc.constantFrom(entered, resumed, step('s', 'completed'), step('s', 'kept'), step('s', 'dropped')),
      fc.uniqueArray(fc.integer({ min: 1, max: 5 })).map((survivors) => step('s', 'dropped', survivors)),
      fc.nat().map((id) => event(`e${id}`)),
      fc.nat().map((id) => event(`s${id}`, 's')),
      fc
        .record({ id: fc.nat(), again: fc.constantFrom({}, { again: true as const }) })
        .map(({ id, again }): TurnRecord => {
          const message = createUserMessage('hello', {}, { id: `input ${id}` });
          return { type: 'message', event: { type: 'append', message }, author: { kind: 'input', ...again } };
        }),
    ),
  );
  fc.assert(
    fc.property(records, (log) => {
      const logged = log.map((record) => ({ record }));
      const voidedOnes = voidedEvents(logged);
      const counted = logged.flatMap((each) =>
        each.record.type === 'message' && !voidedOnes.has(each) ? [each.record.event] : [],
      );
      // This record seals the last events, because a commit counts them even without a seal.
      expect(readTurnLog([...log, entered]).events).toEqual(counted);
    }),
    { numRuns: 1000 },
  );
});
