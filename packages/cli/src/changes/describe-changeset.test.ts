import { expect, test } from 'bun:test';
import { createColors } from '../colors.ts';
import { describeChangeset, describeInList } from './describe-changeset.ts';
import type { ChangesetWithDiff } from './view-changeset.ts';

const terminal = { colors: createColors(false), isWatched: false };
const changeset: ChangesetWithDiff = {
  id: 'c1',
  state: 'open',
  swarm: 'default',
  agent: 'a',
  instanceKey: 'k',
  openedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-02T00:00:00.000Z',
  files: [],
  notes: ['\u001b[1Aput back'],
};

test('an open changeset is shown with its end, its notes and no files, and nothing reaches the terminal unseen', () => {
  const shown = describeChangeset(changeset, terminal);
  expect(shown).toContain('\nopened 2026-01-01T00:00:00Z, expires 2026-01-02T00:00:00Z\nnote: ');
  expect(shown).toEndWith('put back\n\nIt changes no files.\n');
  const listed = describeInList(changeset, terminal);
  expect(listed).toContain('\n    no files yet\n    note: ');
  expect(shown + listed).not.toContain('\u001b');
});

test('a changeset that was committed without an approval says so, and has no end', () => {
  const { expiresAt: _, ...rest } = changeset;
  const committed = { ...rest, state: 'committed', committedAt: '2026-01-01T01:00:00.000Z' } as const;
  const shown = describeChangeset(committed, terminal);
  expect(shown).toContain('\nopened 2026-01-01T00:00:00Z\ncommitted 2026-01-01T01:00:00Z, nobody was asked\n');
});
