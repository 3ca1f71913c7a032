import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import type { Fs } from '../../ports/fs.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { acquireLock, isLastEpoch, type Lock, readLock } from './acquire-lock.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';

/** Creates an attempt of process `pid` to take the lock; the processes in `dead` have exited. */
function seeker(fs: Fs, pid: number, dead: ReadonlySet<number> = new Set()) {
  const processes = {
    self: () => ({ pid, startedAt: `start of ${pid}` }),
    isAlive: (other: { pid: number }) => !dead.has(other.pid),
  };
  return { fs, processes, holder: `holder ${pid}`, what: 'The thing' };
}

test('is rejected while its owner lives, and the error names the owner', async () => {
  const disk = SimulatedDisk.empty();
  await acquireLock(seeker(disk, 1), '/lock');
  expect(await rejectionOf(acquireLock(seeker(disk, 2), '/lock'))).toMatchObject({
    code: 'E_LOCKED',
    message: 'The thing is in use by process 1',
  });
});

test('the lock of a dead process is taken over with a higher epoch, and the old owner sees it', async () => {
  const disk = SimulatedDisk.empty();
  const old = await acquireLock(seeker(disk, 1), '/lock');
  expect(old.isHeld()).toBe(true);
  const young = await acquireLock(seeker(disk, 2, new Set([1])), '/lock');
  expect(young.epoch).toBeGreaterThan(old.epoch);
  expect(old.isHeld()).toBe(false);
  await old.release();
  expect(young.isHeld()).toBe(true);
});

test('a released lock is free, and its epoch is not used again', async () => {
  const disk = SimulatedDisk.empty();
  const first = await acquireLock(seeker(disk, 1), '/lock');
  await first.release();
  const second = await acquireLock(seeker(disk, 2), '/lock');
  expect(second.epoch).toBeGreaterThan(first.epoch);
});

test('a claim of a process that died does not block the next one', async () => {
  const disk = SimulatedDisk.empty();
  await disk.createNew(
    '/lock.1',
    Buffer.from(JSON.stringify({ epoch: 1, owner: { pid: 1, startedAt: '', holder: '' } })),
  );
  const lock = await acquireLock(seeker(disk, 2, new Set([1])), '/lock');
  expect(lock.epoch).toBe(2);
  expect(await disk.list('/')).toEqual(['lock']);
});

test('a claim that failed with a disk error blocks no other process', async () => {
  for (const operation of ['read', 'rename']) {
    const disk = SimulatedDisk.empty();
    let isClaimed = false;
    const failing = failingFs(disk, (name) => {
      if (isClaimed && name === operation) throw systemError('EIO');
      isClaimed ||= name === 'createNew';
    });
    expect(await rejectionOf(acquireLock(seeker(failing, 1), '/lock'))).toMatchObject({ code: 'EIO' });
    expect((await acquireLock(seeker(disk, 2), '/lock')).epoch).toBe(1);
  }
});

test('a lock file torn by a loss of power has no owner', async () => {
  const disk = SimulatedDisk.empty();
  await disk.createNew('/lock', Buffer.from('{"epo'));
  expect((await acquireLock(seeker(disk, 2), '/lock')).isHeld()).toBe(true);
});

test('exactly one of many concurrent attempts gets the lock, in any order of their steps', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 2, max: 4 }),
      fc.boolean(),
      async (scheduler, rivals, wasLocked) => {
        const disk = SimulatedDisk.empty();
        const dead = new Set([9]);
        if (wasLocked) await acquireLock(seeker(disk, 9, dead), '/lock');
        const slow: Fs = {
          ...failingFs(disk, () => undefined),
          read: scheduler.scheduleFunction((path: string) => disk.read(path)),
          createNew: scheduler.scheduleFunction((path: string, bytes: Uint8Array) => disk.createNew(path, bytes)),
          rename: scheduler.scheduleFunction((from: string, to: string) => disk.rename(from, to)),
          remove: scheduler.scheduleFunction((path: string) => disk.remove(path)),
        };
        const attempts = Array.from({ length: rivals }, (_, index) =>
          acquireLock(seeker(slow, index + 1, dead), '/lock').catch(() => undefined),
        );
        const locks = (await scheduler.waitFor(Promise.all(attempts))).filter(
          (lock): lock is Lock => lock !== undefined,
        );
        // At most one attempt may succeed, because no lock was released. If all attempts rejected each other, no
        // process holds the lock.
        expect(locks.length).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: samples(500) },
  );
});

/** A disk with a lock, and a record of the last epoch whose owner removed the lock file. */
function recordingSeeker(fs: Fs, pid: number, record: { epoch: number }, dead?: ReadonlySet<number>) {
  return { ...seeker(fs, pid, dead), recordedEpoch: async () => record.epoch };
}

test('a lock whose epoch is recorded leaves no file when it is released, and its epoch is not used again', async () => {
  const disk = SimulatedDisk.empty();
  const record = { epoch: 0 };
  const first = await acquireLock(recordingSeeker(disk, 1, record), '/lock');
  record.epoch = first.epoch;
  await first.release(true);
  expect([await disk.list('/'), first.isHeld()]).toEqual([[], false]);
  const second = await acquireLock(recordingSeeker(disk, 2, record), '/lock');
  expect(second.epoch).toBe(2);
  await second.release();
  expect((await acquireLock(recordingSeeker(disk, 3, record), '/lock')).epoch).toBe(3);
});

test('a torn or a newer lock may have had an owner, and a missing one had none', async () => {
  const disk = SimulatedDisk.empty();
  expect(await isLastEpoch(disk, '/lock', 0)).toBe(true);
  await acquireLock(seeker(disk, 1), '/lock');
  expect([await isLastEpoch(disk, '/lock', 0), await isLastEpoch(disk, '/lock', 1)]).toEqual([false, true]);
  await disk.remove('/lock');
  await disk.createNew('/lock', Buffer.from('{"epo'));
  expect(await isLastEpoch(disk, '/lock', 9)).toBe(false);
});

test('a released lock never carries the claim of another process', async () => {
  const disk = SimulatedDisk.empty();
  const lock = await acquireLock(seeker(disk, 1), '/lock');
  // A process that read the lock long ago claims an epoch that was used meanwhile, and a kill left the draft of a release.
  const claim = JSON.stringify({ epoch: 1, owner: { pid: 2, startedAt: 'start of 2', holder: 'holder 2' } });
  await disk.createNew('/lock.1', Buffer.from(claim));
  await disk.createNew('/lock.next', Buffer.from(claim));
  await lock.release();
  expect((await readLock(disk, '/lock')).owner).toBeNull();
  expect((await disk.list('/'))?.toSorted()).toEqual(['lock', 'lock.1']);
});

test('a claim that another process made under the name of an abandoned one stays', async () => {
  const disk = SimulatedDisk.empty();
  const claimOf = (pid: number) =>
    Buffer.from(JSON.stringify({ epoch: 1, owner: { pid, startedAt: `start of ${pid}`, holder: `holder ${pid}` } }));
  await disk.createNew('/lock.1', claimOf(1));
  const fs: Fs = {
    ...failingFs(disk, () => undefined),
    async rename(from, to) {
      await disk.rename(from, to);
      await disk.remove('/lock.1');
      await disk.createNew('/lock.1', claimOf(3));
    },
  };
  await acquireLock(seeker(fs, 2, new Set([1])), '/lock');
  expect(await disk.read('/lock.1')).toEqual(claimOf(3));
});

test('a process that read the lock before its owner took it, and the epoch after, is rejected', async () => {
  const disk = SimulatedDisk.empty();
  const record = { epoch: 0 };
  await (await acquireLock(recordingSeeker(disk, 9, record), '/lock')).release();
  let owner: Lock | undefined;
  const recordedEpoch = async () => {
    owner ??= await acquireLock(recordingSeeker(disk, 1, record), '/lock');
    record.epoch = owner.epoch;
    return record.epoch;
  };
  const late = acquireLock({ ...seeker(disk, 2), recordedEpoch }, '/lock');
  expect(await rejectionOf(late)).toMatchObject({ message: 'The thing is in use by process 1' });
  expect([owner?.isHeld(), await disk.list('/')]).toEqual([true, ['lock']]);
});

test('two living processes never own the lock, in any order of steps, releases and kills', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(
        fc.array(fc.constantFrom('recorded', 'unrecorded', 'killed', 'killed early'), { minLength: 1, maxLength: 4 }),
        {
          minLength: 2,
          maxLength: 4,
        },
      ),
      async (scheduler, plans) => {
        const disk = SimulatedDisk.empty();
        const record = { epoch: 0 };
        const dead = new Set<number>();
        // The lock file of an owner that recorded nothing stays.
        await (await acquireLock(seeker(disk, 99), '/lock')).release();
        const holders = new Set<number>();
        const epochs: number[] = [];
        const slow: Fs = {
          ...failingFs(disk, () => undefined),
          read: scheduler.scheduleFunction((path: string) => disk.read(path)),
          createNew: scheduler.scheduleFunction((path: string, bytes: Uint8Array) => disk.createNew(path, bytes)),
          rename: scheduler.scheduleFunction((from: string, to: string) => disk.rename(from, to)),
          remove: scheduler.scheduleFunction((path: string) => disk.remove(path)),
        };
        const recordedEpoch = scheduler.scheduleFunction(async () => record.epoch);
        const pause = scheduler.scheduleFunction(async () => undefined);
        /** The disk of a process that is killed when it has made its claim. */
        const brief = (pid: number): Fs => ({
          ...slow,
          async rename() {
            dead.add(pid);
            throw new GoondanError('E_LOCKED', 'killed');
          },
          remove: async (path) => (dead.has(pid) ? undefined : slow.remove(path)),
        });
        const own = async (pid: number, ending: string) => {
          const fs = ending === 'killed early' ? brief(pid) : slow;
          const lock = await acquireLock({ ...seeker(fs, pid, dead), recordedEpoch }, '/lock').catch(unlessLocked);
          if (!lock) return;
          holders.add(pid);
          epochs.push(lock.epoch);
          expect([[...holders], lock.isHeld()]).toEqual([[pid], true]);
          await pause();
          if (ending !== 'unrecorded') record.epoch = lock.epoch;
          // The owner closes its log after it has written the checkpoint with its epoch.
          await pause();
          holders.delete(pid);
          if (ending === 'killed') dead.add(pid);
          else await lock.release(ending === 'recorded');
        };
        const live = async (endings: readonly string[], index: number) => {
          for (const [life, ending] of endings.entries()) await own(index * 10 + life + 1, ending);
        };
        await scheduler.waitFor(Promise.all(plans.map(live)));
        expect(epochs).toEqual(epochs.toSorted((one, other) => one - other));
        expect(new Set(epochs).size).toBe(epochs.length);
      },
    ),
    { numRuns: samples(2000) },
  );
});

function unlessLocked(error: unknown): undefined {
  if (!GoondanError.is(error) || error.code !== 'E_LOCKED') throw error;
}
