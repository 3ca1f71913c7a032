import { expect, test } from 'bun:test';
import type { Swarm } from '@goondan/runtime';
import { answerChangeset } from './answer-changeset.ts';

test('the id of a changeset answers the question about it, and no question about a tool call', async () => {
  const given: string[] = [];
  const answer =
    (word: string) =>
    async ({ id, note }: { id: string; note?: string }) =>
      given.push(`${word} ${id} ${note}`) > 0;
  // The cast is safe: nothing else of a question is used.
  const swarm = {
    questions: async () => [
      { id: 'a1', args: { changesetId: 'c1' } },
      { id: 'a2', kind: 'change', args: { changesetId: 'c1' } },
    ],
    approve: answer('approve'),
    deny: answer('deny'),
  } as unknown as Swarm;
  const reply = { by: 'ann', note: 'n' };
  expect(await answerChangeset(swarm, 'approve', 'c1', reply)).toBe(true);
  expect(await answerChangeset(swarm, 'deny', 'c1', reply)).toBe(true);
  expect(await answerChangeset(swarm, 'deny', 'c2', reply)).toBe(false);
  expect(given).toEqual(['approve a2 n', 'deny a2 n']);
});
