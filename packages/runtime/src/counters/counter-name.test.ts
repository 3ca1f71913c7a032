import { expect, test } from 'bun:test';
import { nameCounter, namesBeginWith } from './counter-name.ts';

const at = { agentName: 'coder', instanceKey: 'one', turnId: 'turn-1' };
const isMeant = (name: string, beginnings: readonly string[]) => beginnings.some((each) => name.startsWith(each));

test('Y-04 the end of a turn removes its own counters only', () => {
  const beginnings = namesBeginWith(at, at.turnId);
  expect(isMeant(nameCounter('turn', 'all', at), beginnings)).toBe(true);
  expect(isMeant(nameCounter('turn', 'all', { ...at, turnId: 'turn-10' }), beginnings)).toBe(false);
  expect(isMeant(nameCounter('turn', 'all', { ...at, instanceKey: 'other' }), beginnings)).toBe(false);
  expect(isMeant(nameCounter('conversation', 'all', at), beginnings)).toBe(false);
});

test('Y-04 the deletion of a conversation removes its counters and those of its turns', () => {
  const beginnings = namesBeginWith(at);
  const removed = (['turn', 'conversation', 'agent', 'swarm'] as const).filter((scope) =>
    isMeant(nameCounter(scope, 'all', at), beginnings),
  );
  expect(removed).toEqual(['turn', 'conversation']);
  // The key of another conversation may begin with this one, or have the signs of a list.
  for (const instanceKey of ['one more', 'one"', 'one","all']) {
    expect(isMeant(nameCounter('conversation', 'all', { ...at, instanceKey }), beginnings)).toBe(false);
  }
});
