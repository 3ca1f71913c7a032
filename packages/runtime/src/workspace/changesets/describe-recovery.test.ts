import { expect, test } from 'bun:test';
import type { ChangesetRecovery } from './changesets.ts';
import { describeRecovery } from './describe-recovery.ts';

test.each([
  ['committed', /^Finished an interrupted change: changeset c1 of agent a is committed, .* new files\.$/],
  ['open', /^Took back an interrupted change: changeset c1 of agent a is not committed, .* old files\.$/],
  ['undone', /^Finished an interrupted undo: changeset c1 of agent a is undone, .* old files\. .*`gdn reload`\.$/],
] as const)('a changeset that is %s after its recovery is described in one line', (outcome, line) => {
  const describe = (...leftAlone: string[]) =>
    // The cast is safe: only these fields are described.
    describeRecovery({ record: { id: 'c1', agent: 'a' }, outcome, leftAlone } as unknown as ChangesetRecovery);
  expect(describe()).toMatch(line);
  expect(describe('a.md', 'b.md')).toEndWith(' because somebody edited them: a.md, b.md.');
});
