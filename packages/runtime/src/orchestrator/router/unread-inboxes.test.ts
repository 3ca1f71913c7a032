import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, GoondanError } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { fakeEvent, openFakeSwarm, removeFakeSwarm } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { QuestionFile } from '../../workspace/questions/question-file.ts';
import { READ_AGAIN_MS, UnreadInboxes } from './unread-inboxes.ts';

const at = { agentName: 'a', instanceKey: 'default' };

function setUp(code: ErrorCode) {
  const clock = manualClock();
  const posted: string[] = [];
  const disk = { fails: true, reads: 0 };
  const pendingEntries = async () => {
    disk.reads += 1;
    if (disk.fails) throw new GoondanError(code, 'not now');
    return [{ seq: 1, event: fakeEvent('kept') }];
  };
  const unread = new UnreadInboxes(
    { pendingEntries },
    { post: (_, { type }) => void posted.push(type), remember: () => undefined },
    clock,
  );
  return { clock, disk, posted, unread };
}

/** Creates unread inboxes with one entry: an inbox that could not be read when the swarm started. */
function open(code: ErrorCode) {
  const opened = setUp(code);
  opened.unread.add(at, { code, message: 'not now' });
  return opened;
}

test('an inbox that failed with a disk error is read again automatically until its input is there', async () => {
  const { clock, disk, posted, unread } = open('E_STORE_READ');
  await clock.advance(READ_AGAIN_MS * 3);
  expect({ reads: disk.reads, timers: clock.pending }).toEqual({ reads: 3, timers: 1 });
  disk.fails = false;
  await clock.advance(READ_AGAIN_MS);
  expect(posted.slice(-2)).toEqual(['forgive', 'work']);
  expect({ isUnread: unread.has(at), timers: clock.pending }).toEqual({ isUnread: false, timers: 0 });
});

test('a damaged inbox is read again on request, and not automatically', async () => {
  const { clock, disk, unread } = open('E_STORE_CORRUPT');
  expect(clock.pending).toBe(0);
  await unread.tryAgain(at);
  expect({ reads: disk.reads, timers: clock.pending }).toEqual({ reads: 1, timers: 0 });
});

test('nothing is read after the instance is deleted or the swarm stops', async () => {
  for (const end of ['delete', 'close'] as const) {
    const { clock, unread } = open('E_STORE_READ');
    unread[end](at);
    expect(clock.pending).toBe(0);
  }
});

test.each([
  ['E_STORE_CORRUPT', true],
  ['E_DISK_FULL', false],
  ['E_STORE_READ', false],
] as const)('after an event was rejected with %s its instance does not start: %p', (code, isDamaged) => {
  const { unread, posted } = setUp(code);
  unread.refused(at, new GoondanError(code, 'not now'));
  expect(unread.has(at)).toBe(isDamaged);
  expect(posted).toEqual(isDamaged ? ['damaged'] : []);
});

test('a repaired inbox is forgiven first, and then its instance gets the accepted input', async () => {
  const { unread, posted, disk } = open('E_STORE_CORRUPT');
  await unread.tryAgain(at);
  expect(unread.has(at)).toBe(true);
  disk.fails = false;
  await unread.tryAgain(at);
  expect(unread.has(at)).toBe(false);
  expect(posted).toEqual(['damaged', 'damaged', 'forgive', 'work']);
});

test('the approval request of an instance with an unreadable inbox is kept: its turn may continue', async () => {
  const first = await openFakeSwarm(async () => undefined);
  const { stateRoot } = first;
  await first.swarm.accept(at, fakeEvent('delete it'), false);
  await first.close();
  const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn: () => undefined };
  const file = await QuestionFile.open(ports, { stateRoot, workspaceId: 'test' });
  const whose = { agent: 'a', instanceKey: 'default', eventId: 'e', traceId: 't', key: 'k', toolCallId: 'c' };
  const asked = { toolName: 'rm', kind: 'call' as const, args: {}, digest: 'd', reason: 'it deletes' };
  const times = { askedAt: new Date().toISOString(), expiresAt: new Date(Date.now() + 600_000).toISOString() };
  for (const agent of ['a', 'b']) await file.put({ ...whose, ...asked, ...times, id: `of-${agent}`, agent });
  await file.close();
  const path = join(stateRoot, 'workspaces/test/inbox/inbox.000001.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace('delete it', 'damaged  '));
  const second = await openFakeSwarm(async () => undefined, { stateRoot });
  try {
    await second.swarm.wake();
    expect(second.swarm.instances.find(at)?.status).toBe('does not start');
    expect(second.swarm.questions.pending().map(({ id }) => id)).toEqual(['of-a']);
  } finally {
    await second.close();
    removeFakeSwarm(second);
  }
});
