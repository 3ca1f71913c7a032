import { describe, expect, test } from 'bun:test';
import type { FileStat } from '../../ports/fs.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import { makeEntry } from './instance-index.ts';
import { LogState } from './log-state.ts';
import { firstCheckpoint } from './metadata.ts';

const address = { agentName: 'coder', instanceKey: 'default' };
const createdAt = new Date(0).toISOString();

/** Makes the entry of an instance whose log changed some time ago. */
function entryOf(given: { agoMs: number; isClosed: boolean; hasOpenTurn: boolean }) {
  const clock = manualClock();
  const stat: FileStat = { size: 1, identity: '1', changedAt: clock.now().getTime() - given.agoMs };
  // Safe: an entry needs only these members.
  const stored = {
    address,
    clock,
    paths: pathsIn('/w/a'),
    fs: { stat: async () => stat },
  } as unknown as StoredInstance;
  const state = new LogState(firstCheckpoint(0, createdAt));
  if (given.hasOpenTurn) state.open.addRecords('turn-a', 0, [{ seq: 2, at: 0, record: { type: 'resumed' } }]);
  return makeEntry(stored, state, createdAt, given.isClosed);
}

describe('the entry of an instance', () => {
  test('waits while the log has just changed, because it could change again without another time', async () => {
    expect(await entryOf({ agoMs: 50, isClosed: false, hasOpenTurn: false })).toBe('busy');
    expect(await entryOf({ agoMs: 51, isClosed: false, hasOpenTurn: false })).toMatchObject(address);
  });

  test('is made at once for a closed log, whose size changes with the next frame', async () => {
    expect(await entryOf({ agoMs: 0, isClosed: true, hasOpenTurn: false })).toMatchObject(address);
    expect(await entryOf({ agoMs: 0, isClosed: true, hasOpenTurn: true })).toMatchObject(address);
  });

  test('is not made while a turn is open', async () => {
    expect(await entryOf({ agoMs: 1_000, isClosed: false, hasOpenTurn: true })).toBeUndefined();
  });
});
