import type { StudioNotice } from '@goondan/cli/studio';
import { expect, test } from 'bun:test';
import { liveKey } from '../live/live-turns.ts';
import { type Commits, countCommits } from './count-commits.ts';

test('every commit changes the number of a conversation', () => {
  const once = countCommits(new Map(), [ended('a'), ended('b'), ended('a')]);
  expect([...once]).toEqual([
    [liveKey('agent', 'b'), 1],
    [liveKey('agent', 'a'), 2],
  ]);
  expect(countCommits(once, [{ type: 'swarm', isRunning: true }])).toBe(once);
});

test('and so does a reset, but not a deletion, after which it cannot be read', () => {
  const at = { agent: 'agent', instanceKey: 'a' };
  const before = countCommits(new Map(), [ended('a'), ended('b')]);
  const reset = countCommits(before, [{ type: 'instance', at, change: 'reset' }]);
  expect([...reset]).toEqual([
    [liveKey('agent', 'b'), 1],
    [liveKey('agent', 'a'), 2],
  ]);
  expect(countCommits(reset, [{ type: 'instance', at, change: 'deleted' }, { type: 'conversations' }])).toBe(reset);
});

test('a page that is open for days counts the latest ones only', () => {
  let commits: Commits = new Map();
  for (let number = 0; number < 500; number += 1) commits = countCommits(commits, [ended(`${number}`), ended('shown')]);
  expect(commits.size).toBe(200);
  expect(commits.get(liveKey('agent', 'shown'))).toBe(500);
});

function ended(instanceKey: string): StudioNotice {
  const result = { turnId: 't', finishReason: 'text_response' } as const;
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const end = { agent: 'agent', instanceKey, eventId: 'e', traceId: 'x', result, stepCount: 1, usage };
  return { type: 'turn.ended', end };
}
