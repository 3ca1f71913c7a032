import { expect, test } from 'bun:test';
import type { ChangesetRecord, Changesets } from '@goondan/runtime/internal';
import { findChangeset } from './read-changesets.ts';

const record = (id: string): ChangesetRecord => ({
  id,
  bundleFolder: '/bundle',
  swarm: 'default',
  agent: 'a',
  instanceKey: 'k',
  openedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-02T00:00:00.000Z',
  state: 'open',
  edits: [],
});

const find = (typed: string, ...ids: string[]) => {
  const fake: Pick<Changesets, 'list' | 'compare'> = { list: async () => ids.map(record), compare: async () => [] };
  // The cast is safe: `findChangeset` calls only these two methods.
  return findChangeset(fake as Changesets, typed);
};

test('the beginning of an id is enough, if no other id begins like this', async () => {
  expect((await find('1f3', '1f3a9c2b', '1f4a9c2b')).id).toBe('1f3a9c2b');
  expect((await find('1f3a', '1f3a', '1f3a9c2b')).id).toBe('1f3a');
  expect((await find('1f3a', '1f3a9c2b', '1f3a')).id).toBe('1f3a');
});

test('an ambiguous beginning is an error with the candidates, at most five of them', async () => {
  expect(find('1f', '1f3a9c2b', '1f4a9c2b', '2f4a9c2b')).rejects.toMatchObject({
    code: 'E_CHANGESET_UNKNOWN',
    message: '"1f" may be 1f3a9c2b, 1f4a9c2b.',
    suggestion: 'Type more of the id, as `gdn changes list` shows it.',
  });
  expect(find('1', ...['1a', '1b', '1c', '1d', '1e'])).rejects.toThrow('"1" may be 1a, 1b, 1c, 1d, 1e.');
  expect(find('1', ...['1a', '1b', '1c', '1d', '1e', '1f', '10'])).rejects.toThrow(
    '"1" may be 1a, 1b, 1c, 1d, 1e, and 2 more.',
  );
});
