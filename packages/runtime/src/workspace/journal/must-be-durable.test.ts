import { expect, test } from 'bun:test';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import { simpleRecords } from '../simulation/simulated-turn.ts';
import { mustBeDurable } from './must-be-durable.ts';

const intent = (key: string): TurnRecord => ({ type: 'intent', key, kind: 'tool' });
const effect = (key: string, kind: 'tool' | 'approval'): TurnRecord => {
  return { type: 'effect', key, kind, outcome: { ok: true, value: null } };
};

test('an intent must survive a power loss before its effect begins, and the answer of a person before it is removed', () => {
  expect(mustBeDurable([...simpleRecords('a'), intent('a')])).toBe(true);
  expect(mustBeDurable([intent('a'), effect('a', 'tool'), intent('b')])).toBe(true);
  expect(mustBeDurable([effect('a', 'approval')])).toBe(true);
});

test('results need not', () => {
  expect(mustBeDurable(simpleRecords('a'))).toBe(false);
  expect(mustBeDurable([effect('a', 'tool'), { type: 'resumed' }])).toBe(false);
  expect(mustBeDurable([intent('a'), effect('a', 'tool')])).toBe(false);
});
