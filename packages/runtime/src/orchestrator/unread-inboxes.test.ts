import { expect, test } from 'bun:test';
import { type ErrorCode, GoondanError } from '@goondan/types';
import { fakeEvent } from '../testing/fake-swarm.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { READ_AGAIN_MS, UnreadInboxes } from './unread-inboxes.ts';

const at = { agentName: 'a', instanceKey: 'default' };

function open(code: ErrorCode) {
  const clock = manualClock();
  const posted: string[] = [];
  const disk = { fails: true, reads: 0 };
  const unread = new UnreadInboxes({
    clock,
    journal: {
      async pendingEntries() {
        disk.reads += 1;
        if (disk.fails) throw new GoondanError(code, 'not now');
        return [{ seq: 1, event: fakeEvent('kept') }];
      },
    },
    instances: { post: (_, { type }) => void posted.push(type) },
    remember: () => undefined,
  });
  unread.add(at, { code, message: 'not now' });
  return { clock, disk, posted, unread };
}

test('T-01 an inbox that the disk could not read is read again by itself until its input is there', async () => {
  const { clock, disk, posted, unread } = open('E_STORE_READ');
  await clock.advance(READ_AGAIN_MS * 3);
  expect({ reads: disk.reads, timers: clock.pending }).toEqual({ reads: 3, timers: 1 });
  disk.fails = false;
  await clock.advance(READ_AGAIN_MS);
  expect(posted.slice(-2)).toEqual(['forgive', 'work']);
  expect({ isUnread: unread.has(at), timers: clock.pending }).toEqual({ isUnread: false, timers: 0 });
});

test('T-01 a damaged inbox is read again when somebody asks, and not by itself', async () => {
  const { clock, disk, unread } = open('E_STORE_CORRUPT');
  expect(clock.pending).toBe(0);
  await unread.tryAgain(at);
  expect({ reads: disk.reads, timers: clock.pending }).toEqual({ reads: 1, timers: 0 });
});

test('T-01 nothing is read any more once the instance is deleted, or the swarm stops', async () => {
  for (const end of ['delete', 'close'] as const) {
    const { clock, unread } = open('E_STORE_READ');
    unread[end](at);
    expect(clock.pending).toBe(0);
  }
});
