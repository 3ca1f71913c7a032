import { describe, expect, test } from 'bun:test';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { sha256 } from '../../json/sha256.ts';
import type { ChangesetRecord } from '../../workspace/changesets/changeset-record.ts';
import { LONGEST_ARGUMENTS } from '../questions/asked-question.ts';
import { addedEarlier, checkCommit, checkCompared, checkPresent, checkReadable, endOf } from './decide-commit.ts';

const commit = {
  at: '2026-01-01T00:00:00.000Z',
  digest: 'd',
  baseRef: 'base',
  newRef: 'new',
  summary: { filesChanged: ['a.md'], filesAdded: [], filesDeleted: [] },
  addedTools: ['clock'],
};
const record: ChangesetRecord = {
  id: 'c1',
  bundleFolder: '/bundle',
  swarm: 'test',
  agent: 'coder',
  instanceKey: 'one',
  openedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-02T00:00:00.000Z',
  state: 'open',
  edits: [],
};
const plan: SwarmPlan = { name: 'test', agents: [{ agentName: 'coder', models: {} }] };

function rejectionOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('a changeset', () => {
  test('that is committed has the outcome of its commit, and an open one has none', () => {
    expect(endOf(record)).toBeUndefined();
    const { baseRef, newRef, summary } = commit;
    const outcome = { status: 'ok' as const, changesetId: 'c1', baseRef, newRef, summary };
    expect(endOf({ ...record, state: 'committed', commit })).toEqual(outcome);
  });

  test.each(['undone', 'applying', 'reverting', 'undoing'] as const)('that is %s cannot be committed', (state) => {
    expect(rejectionOf(() => endOf({ ...record, state, commit }))).toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining(state === 'undone' ? 'A person has undone' : 'are being replaced'),
    });
  });

  test('may change the tools and the files that committed changesets added, and only those', () => {
    const [created, changed] = [
      { path: 'clock.ts', before: null, after: 'x' },
      { path: 'main.ts', before: 'y', after: 'z' },
    ];
    const committed = { ...record, state: 'committed' as const, commit, edits: [created, changed] };
    const undone = { ...committed, state: 'undone' as const, commit: { ...commit, addedTools: ['gone'] } };
    expect(addedEarlier([committed, committed, undone, record])).toEqual({
      addedTools: ['clock'],
      addedFiles: [{ path: 'clock.ts', digest: 'x' }],
    });
  });

  // Each edit is the content before and after it; `-` is no file.
  test.each([
    ['that an agent created and edited', ['- a', 'a b'], 'b'],
    ['that an agent created, and a person edited before the agent did', ['- a', 'b c'], undefined],
    ['that an agent created and deleted', ['- a', 'a -'], undefined],
    ['that an agent deleted and a person wrote again', ['- a', 'a -', 'b c'], undefined],
    ['that a person wrote and an agent edited', ['a b', 'b c'], undefined],
  ])('knows who owns a file %s', (_, edits, digest) => {
    const records = edits.map((edit, day) => {
      const [before = null, after = null] = edit.split(' ').map((content) => (content === '-' ? null : content));
      return {
        ...record,
        state: 'committed' as const,
        commit: { ...commit, at: `2026-01-0${day + 1}T00:00:00.000Z` },
        edits: [{ path: 'clock.ts', before, after }],
      };
    });
    // The list begins with the newest.
    const { addedFiles } = addedEarlier(records.toReversed());
    expect(addedFiles).toEqual(digest === undefined ? [] : [{ path: 'clock.ts', digest }]);
  });
});

describe('the bundle', () => {
  test('L-05 must be the plan in force', () => {
    checkPresent(plan, { ...plan, agents: [...plan.agents] });
    const edited = { ...plan, agents: [{ agentName: 'coder', models: {}, systemPrompt: 'edited' }] };
    expect(rejectionOf(() => checkPresent(plan, edited))).toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('Agent/coder. A person must run `gdn reload` first'),
    });
    const without = { ...plan, agents: [] };
    expect(rejectionOf(() => checkPresent(plan, without))).toMatchObject({ reason: 'conflict' });
    const policy = { changes: { allow: ['**'] } };
    expect(rejectionOf(() => checkPresent(plan, { ...plan, policy }))).toMatchObject({ reason: 'conflict' });
  });
});

describe('the diff', () => {
  const edits = [{ path: 'a.md', before: sha256('old'), after: sha256('new') }];
  const file = { path: 'a.md', change: 'changed' as const, old: 'old', new: 'new' };

  test('L-05 is that of the edits, or the changeset was written to', () => {
    checkCompared(edits, [file]);
    checkCompared([{ path: 'b.md', before: null, after: sha256('new') }], [{ ...file, path: 'b.md', old: null }]);
    const { old: _, ...unknown } = file;
    for (const files of [[{ ...file, new: 'harmless' }], [{ ...file, old: 'other' }], [], [file, file], [unknown]]) {
      expect(rejectionOf(() => checkCompared(edits, files))).toMatchObject({ reason: 'conflict' });
    }
  });

  test('is not longer than a person can judge', () => {
    const fileOf = (path: string, size: number) => ({ path, change: 'added' as const, diff: 'x'.repeat(size) });
    const most = LONGEST_ARGUMENTS - 1_000;
    const longest = most - Buffer.byteLength(JSON.stringify(fileOf('a.md', 0)));
    checkReadable([fileOf('a.md', longest)]);
    expect(rejectionOf(() => checkReadable([fileOf('a.md', longest + 1)]))).toMatchObject({ reason: 'invalid_files' });
    expect(rejectionOf(() => checkReadable([fileOf('a.md', 100), fileOf('b.md', most)]))).toMatchObject({
      reason: 'invalid_files',
      message: expect.stringMatching(/^The diff has at least 256\d+ bytes/),
      violations: [expect.stringMatching(/^b\.md has a diff of 255\d+ bytes\.$/), expect.stringMatching(/^a\.md/)],
    });
  });
});

describe('a commit', () => {
  const toApprove = { changesetId: 'c1', digest: 'd', files: [] };
  const approved = () => ({ by: 'ann' });
  const nothing = () => undefined;

  test('L-05 needs the approval of exactly this diff, unless the operator asks for none', () => {
    const found: unknown[] = [];
    const find = (id: string, args: unknown) => {
      found.push([id, args]);
      return { by: 'ann' };
    };
    expect(checkCommit({ digest: 'd', approvalId: 'a1' }, toApprove, true, find)).toEqual({ by: 'ann' });
    expect(found).toEqual([['a1', toApprove]]);
    expect(checkCommit({ digest: 'd', approvalId: 'a1' }, toApprove, false, approved)).toEqual({});
    for (const wanted of [{ digest: 'd' }, { digest: 'd', approvalId: 'forged' }]) {
      expect(rejectionOf(() => checkCommit(wanted, toApprove, true, nothing))).toMatchObject({
        reason: 'policy_violation',
      });
    }
  });

  test('L-05 of edits that changed after the review is rejected, even if they are approved', () => {
    const wanted = { digest: 'reviewed', approvalId: 'a1' };
    for (const needsApproval of [true, false]) {
      expect(rejectionOf(() => checkCommit(wanted, toApprove, needsApproval, approved))).toMatchObject({
        reason: 'conflict',
      });
    }
  });
});
