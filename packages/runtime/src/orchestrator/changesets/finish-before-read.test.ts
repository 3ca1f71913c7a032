import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { manualClock } from '../../testing/manual-clock.ts';
import type { ChangesetRecord } from '../../workspace/changesets/changeset-record.ts';
import { changesetLimits } from '../../workspace/changesets/changeset-store.ts';
import type { ChangesetRecovery } from '../../workspace/changesets/changesets.ts';
import { finishBeforeRead } from './finish-before-read.ts';

const busy = new GoondanError('E_CHANGESET_BUSY', 'Process 7 is replacing files of this bundle for a changeset.');
const record = (state: ChangesetRecord['state']): ChangesetRecord => ({
  id: '260690f1',
  bundleFolder: '/bundle',
  swarm: 'other',
  agent: 'scribe',
  instanceKey: 'default',
  openedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-02T00:00:00.000Z',
  state,
  edits: [],
});
const recovery: ChangesetRecovery = { record: record('committed'), outcome: 'committed', leftAlone: [] };

/** Begins to read while another process holds the lock, until `end` is called. */
function begin(state: ChangesetRecord['state']) {
  const clock = manualClock();
  const reported: string[] = [];
  let answer: () => readonly ChangesetRecovery[] = () => {
    throw busy;
  };
  let tries = 0;
  const store = {
    recover: async () => {
      tries += 1;
      return answer();
    },
    list: async () => [record(state)],
  };
  let isRead = false;
  const over = finishBeforeRead(
    store,
    clock,
    (level, event, message) => void reported.push(`${level} ${event} ${message}`),
  ).then(() => void (isRead = true));
  return {
    clock,
    reported,
    over,
    end: (recoveries: readonly ChangesetRecovery[]) => void (answer = () => recoveries),
    isRead: () => isRead,
    tries: () => tries,
  };
}

describe('a reload', () => {
  test('waits for the living commit of another swarm, and then reads the bundle', async () => {
    const { clock, over, end, isRead, tries } = begin('applying');
    await clock.advance(1_000);
    expect([isRead(), tries() > 1]).toEqual([false, true]);
    end([]);
    await clock.advance(1_000);
    await over;
  });

  test('waits no longer than for the lock of the bundle', async () => {
    const { clock, over, isRead } = begin('applying');
    await clock.advance(changesetLimits.lockWaitMs - 1_000);
    expect(isRead()).toBe(false);
    await clock.advance(2_000);
    await over;
  });

  test('never waits for an undo, which waits for the reload', async () => {
    const { over, tries } = begin('undoing');
    await over;
    expect(tries()).toBe(1);
  });

  test('L-05 reports the interrupted changes that it finished', async () => {
    const { clock, over, end, reported } = begin('applying');
    end([recovery]);
    await clock.advance(1_000);
    await over;
    expect(reported).toEqual([expect.stringMatching(/^warn changeset\.recovered .*260690f1 .* is committed/)]);
  });
});
