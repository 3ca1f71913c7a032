import { expect, test } from 'bun:test';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { voidedEvents } from './voided-events.ts';

const event = (targetId: string, stepId?: string): TurnRecord => ({
  type: 'message',
  event: { type: 'remove', targetId },
  author: { kind: 'runtime' },
  ...(stepId !== undefined && { stepId }),
});
const entered: TurnRecord = { type: 'entered', metadata: {}, extensionState: {} };
const resumed: TurnRecord = { type: 'resumed' };
const step = (stepId: string, outcome: 'completed' | 'dropped' | 'kept'): TurnRecord => ({
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

test('without a crash or a dropped step everything counts', () => {
  expect(voided(event('a'), entered, event('b', 's'), step('s', 'completed'), event('c'))).toEqual([]);
  expect(voided(event('a'), entered, event('b', 's'), step('s', 'kept'))).toEqual([]);
});

test('a crash voids what came after the last entered or step record', () => {
  expect(voided(event('a'), resumed, event('a'), entered)).toEqual(['a']);
  expect(voided(event('a'), entered, event('b', 's'), resumed, event('b', 's'), step('s', 'completed'))).toEqual(['b']);
  expect(voided(event('a'), entered, event('b', 's'), step('s', 'completed'), event('c'), resumed, event('d'))).toEqual(
    ['c'],
  );
});

test('a second crash voids only what came after the first', () => {
  expect(voided(event('a'), entered, event('b', 's'), resumed, resumed, event('c', 's'), resumed)).toEqual(['b', 'c']);
});

test('a dropped step takes its own events with it, not those of layers around it', () => {
  expect(voided(event('a'), entered, event('b', 's'), event('c'), step('s', 'dropped'), event('d'))).toEqual(['b']);
});
