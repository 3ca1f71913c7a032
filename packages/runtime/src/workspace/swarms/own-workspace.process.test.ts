import { afterEach, describe, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { samples } from '../../../../../test/samples.ts';
import { systemFs } from '../../ports/fs.ts';
import type { Processes } from '../../ports/processes.ts';
import { stateRoot as chooseStateRoot } from '../layout/state-root.ts';
import { readOwner } from '../../testing/read-owner.ts';
import { ownWorkspace } from './own-workspace.ts';
import type { OwnerAnswer, OwnerOrder } from '../simulation/owner-process.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';

const folders: string[] = [];
const children: OwnerProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newPlace() {
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-owner-'));
  folders.push(stateRoot);
  return { stateRoot, workspaceId: 'w' };
}

/** Fakes a system in which only this process id is alive. */
const only = (pid: number): Processes => ({
  self: () => ({ pid, startedAt: `start of ${pid}` }),
  isAlive: (other) => other.pid === pid,
});
const fileOf = ({ stateRoot }: { stateRoot: string }) => join(stateRoot, 'workspaces/w/orchestrator.json');

const lockOf = ({ stateRoot }: { stateRoot: string }) => join(stateRoot, 'workspaces/w/workspace.lock');

test('a second orchestrator is rejected with the process, swarm and start time of the first', async () => {
  const place = newPlace();
  const clock = { now: () => new Date('2026-01-02T03:04:05Z'), elapsed: () => 0, after: () => () => undefined };
  await ownWorkspace({ ...place, clock }, { swarm: 'shop', runTag: 'first' });
  const refused = await rejectionOf(ownWorkspace(place, { swarm: 'other', runTag: 'second' }));
  const workspace = join(place.stateRoot, 'workspaces/w');
  expect(refused).toMatchObject({
    code: 'E_SWARM_RUNNING',
    message: `Swarm shop runs in ${workspace} already: process ${process.pid}, since 2026-01-02T03:04:05.000Z`,
  });
});

test('the owner puts a workspace back that an interrupted restore has moved away', async () => {
  const place = newPlace();
  const aside = join(place.stateRoot, 'workspaces/.replaced-w');
  mkdirSync(aside, { recursive: true });
  writeFileSync(join(aside, 'approvals.jsonl'), 'old');
  const owner = await ownWorkspace(place, { swarm: 'shop', runTag: 'first' });
  expect(readFileSync(join(place.stateRoot, 'workspaces/w/approvals.jsonl'), 'utf8')).toBe('old');
  expect(readdirSync(join(place.stateRoot, 'workspaces'))).toEqual(['w']);
  await owner.release();
});

test('the owner removes what an interrupted restore has left, but not while another process is the owner', async () => {
  const place = newPlace();
  const workspaces = join(place.stateRoot, 'workspaces');
  const interruptRestore = () => {
    for (const name of ['.restoring-w', '.replaced-w', '.restoring-other']) {
      mkdirSync(join(workspaces, name, 'instances'), { recursive: true });
    }
  };
  const restore = await ownWorkspace(place, { swarm: 'shop', runTag: 'restore' });
  interruptRestore();
  expect(await rejectionOf(ownWorkspace(place, { swarm: 'shop', runTag: 'second' }))).toMatchObject({
    code: 'E_SWARM_RUNNING',
  });
  expect(readdirSync(workspaces).toSorted()).toEqual(['.replaced-w', '.restoring-other', '.restoring-w', 'w']);
  await restore.release();
  const owner = await ownWorkspace(place, { swarm: 'shop', runTag: 'third' });
  expect(readdirSync(workspaces).toSorted()).toEqual(['.restoring-other', 'w']);
  await owner.release();
});

test('what an interrupted restore has left does not stop the owner, if it cannot be removed', async () => {
  const place = newPlace();
  const left = join(place.stateRoot, 'workspaces/.restoring-w');
  mkdirSync(left, { recursive: true });
  const removeFolder = () => Promise.reject(new Error('not permitted'));
  const owner = await ownWorkspace({ ...place, fs: { ...systemFs, removeFolder } }, { swarm: 'shop', runTag: 'first' });
  expect(readdirSync(join(place.stateRoot, 'workspaces')).toSorted()).toEqual(['.restoring-w', 'w']);
  await owner.release();
  await (await ownWorkspace(place, { swarm: 'shop', runTag: 'second' })).release();
  expect(readdirSync(join(place.stateRoot, 'workspaces'))).toEqual(['w']);
});

test('readers learn which process runs the workspace, and that none does before, after, and when it is dead', async () => {
  const place = newPlace();
  expect(await readOwner(place)).toBeUndefined();
  const run = { swarm: 'shop', runTag: 'tag', controlSocket: '/run/control.sock' };
  const owner = await ownWorkspace(place, run);
  expect(await readOwner(place)).toEqual({ ...run, pid: process.pid, startedAt: expect.any(Date) });
  expect(await readOwner({ ...place, processes: only(1) })).toBeUndefined();
  await owner.release();
  expect(await readOwner(place)).toBeUndefined();
});

test('the file is complete, readable only by its owner, and the only one', async () => {
  const place = newPlace();
  const owner = await ownWorkspace(place, { swarm: 'shop', runTag: 'tag' });
  expect((statSync(fileOf(place)).mode & 0o777).toString(8)).toBe('600');
  expect(JSON.parse(readFileSync(fileOf(place), 'utf8'))).toMatchObject({
    owner: { pid: process.pid, about: { swarm: 'shop', runTag: 'tag' } },
  });
  await owner.release();
  expect(readdirSync(join(fileOf(place), '..')).toSorted()).toEqual(['orchestrator.json', 'workspace.lock']);
  expect(readFileSync(lockOf(place), 'utf8')).toBe('');
});

test('an interrupted run is reported to every later owner until one ends properly', async () => {
  const place = newPlace();
  const own = (pid: number) =>
    // There is no flock, because all owners are in fact this process, which would keep the lock.
    ownWorkspace({ ...place, processes: only(pid), flock: false }, { swarm: 'shop', runTag: `tag ${pid}` });
  const first = await own(1);
  expect(first.broken).toEqual([]);
  expect((await own(2)).broken).toEqual([{ pid: 1, runTag: 'tag 1' }]);
  const third = await own(3);
  expect(third.broken).toEqual([
    { pid: 2, runTag: 'tag 2' },
    { pid: 1, runTag: 'tag 1' },
  ]);
  await third.release();
  const fourth = await own(4);
  expect(fourth.broken).toEqual([]);
  for (let pid = 5; pid < 30; pid += 1) expect((await own(pid)).broken[0]?.pid).toBe(pid - 1);
  expect((await own(30)).broken.map(({ pid }) => pid)).toEqual([29, 28, 27, 26, 25, 24, 23, 22, 21]);
});

test('an interrupted run is reported to the next owner, whichever byte of orchestrator.json is damaged', async () => {
  const place = newPlace();
  const runTag = 'GOONDAN_RUN=d29f6a2c-7b1e-4a39-9f44-0c5b3e8d1a70';
  // All owners are in fact this process, which would keep a real lock. Nothing of this test needs a sync.
  const flock = async () => ({ answer: 'locked' }) as const;
  const fs = { ...systemFs, syncFolder: async () => undefined };
  const own = (pid: number, tag: string) =>
    ownWorkspace({ ...place, fs, flock, processes: only(pid) }, { swarm: 'shop', runTag: tag });
  await own(1, 'an earlier one');
  await own(2, runTag);
  const [record, lock] = [readFileSync(fileOf(place)), readFileSync(lockOf(place))];
  for (let at = 0; at < record.length; at += 1) {
    const damaged = Buffer.from(record);
    damaged.writeUInt8(damaged.readUInt8(at) ^ (at % 5 === 0 ? 128 : 1), at);
    writeFileSync(fileOf(place), damaged);
    writeFileSync(lockOf(place), lock);
    const owner = await own(77, 'next');
    expect(owner.broken.map((each) => each.runTag)).toContain(runTag);
    await owner.release();
  }
});

const RACES = samples(50);

test(`exactly one of two processes that try at the same moment owns the workspace, ${RACES} times`, async () => {
  const { stateRoot } = newPlace();
  const rivals = await Promise.all([OwnerProcess.start(), OwnerProcess.start()]);
  for (let round = 0; round < RACES; round += 1) {
    const answers = await race(rivals, stateRoot, String(round));
    const winners = answers.filter(({ owner }) => owner);
    expect(winners.length).toBe(1);
    expect(winners[0]?.owner).toEqual({ broken: [] });
    expect(answers.find(({ refusal }) => refusal)?.refusal?.code).toBe('E_SWARM_RUNNING');
    for (const [index, { owner }] of answers.entries()) if (owner) await rivals[index]?.ask({ do: 'release' });
  }
}, 120_000);

test('after a kill of the owner the next one gets the workspace and the name of that run; of two in a race one wins', async () => {
  const { stateRoot } = newPlace();
  let owner = await OwnerProcess.start();
  expect(await owner.own(stateRoot, 'tag 0')).toEqual({ owner: { broken: [] } });
  for (let round = 1; round <= 5; round += 1) {
    const rivals = await Promise.all([OwnerProcess.start(), OwnerProcess.start()]);
    const { pid } = owner;
    expect((await rivals[0].own(stateRoot, 'too early')).refusal?.message).toContain(`process ${pid}`);
    await owner.kill();
    const answers = await race(rivals, stateRoot, `tag ${round}`);
    const winner = answers.findIndex((answer) => answer.owner);
    expect(answers.filter((answer) => answer.owner).length).toBe(1);
    expect(answers[winner]?.owner?.broken[0]).toEqual({ pid, runTag: `tag ${round - 1}` });
    expect(answers[winner]?.owner?.broken.length).toBe(round);
    owner = rivals[winner === 0 ? 0 : 1];
    await rivals[winner === 0 ? 1 : 0].kill();
  }
}, 120_000);

describe('a second owner', () => {
  const second = { swarm: 'other', runTag: 'second' };

  test('is rejected and learns the first owner, even if orchestrator.json is missing, empty, or has any bit flipped', async () => {
    const place = newPlace();
    const owner = await ownWorkspace(place, { swarm: 'shop', runTag: 'first' });
    const whole = readFileSync(fileOf(place));
    const message = expect.stringMatching(
      new RegExp(`^Swarm shop runs in .* already: process ${process.pid}, since 20`),
    );
    const isRefused = async () =>
      expect(await rejectionOf(ownWorkspace(place, second))).toMatchObject({ code: 'E_SWARM_RUNNING', message });
    for (let bit = 0; bit < whole.length * 8; bit += 7) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      writeFileSync(fileOf(place), damaged);
      await isRefused();
    }
    writeFileSync(fileOf(place), '');
    await isRefused();
    rmSync(fileOf(place));
    await isRefused();
    expect(owner.isLost()).toBe(false);
    await owner.release();
    await (await ownWorkspace(place, second)).release();
  });

  test('is rejected when it cannot see the process of the first owner, and when that process is unknown', async () => {
    const place = newPlace();
    const owner = await ownWorkspace(place, { swarm: 'shop', runTag: 'first' });
    const blind = { ...place, processes: only(1) };
    expect(await rejectionOf(ownWorkspace(blind, second))).toMatchObject({
      code: 'E_SWARM_RUNNING',
      message: expect.stringContaining(
        `process ${process.pid} of ${hostname()}, which is not visible from here, since`,
      ),
    });
    writeFileSync(lockOf(place), 'half a na');
    expect(await rejectionOf(ownWorkspace(blind, second))).toMatchObject({
      code: 'E_SWARM_RUNNING',
      message: expect.stringContaining('Another orchestrator runs in'),
    });
    await owner.release();
  });

  test('gets the workspace when the first is killed although its child lives, and learns its run without orchestrator.json', async () => {
    const { stateRoot } = newPlace();
    const first = await OwnerProcess.start();
    await first.own(stateRoot, 'first');
    const { child = 0 } = await first.ask({ do: 'spawn' });
    try {
      rmSync(fileOf({ stateRoot }));
      const place = { stateRoot, workspaceId: 'w' };
      expect(await rejectionOf(ownWorkspace(place, second))).toMatchObject({ code: 'E_SWARM_RUNNING' });
      await first.kill();
      expect(process.kill(child, 0)).toBe(true);
      const next = await ownWorkspace(place, second);
      expect(next.broken).toEqual([{ pid: first.pid, runTag: 'first' }]);
      await next.release();
    } finally {
      process.kill(child, 'SIGKILL');
    }
  });

  test('finds the first owner through a link to its state root', async () => {
    const place = newPlace();
    const owner = await ownWorkspace(place, { swarm: 'shop', runTag: 'first' });
    const link = `${place.stateRoot}-link`;
    symlinkSync(place.stateRoot, link);
    try {
      expect(await rejectionOf(ownWorkspace({ ...place, stateRoot: link }, second))).toMatchObject({
        code: 'E_SWARM_RUNNING',
      });
      // The link is resolved for a deeper folder, too, so that the control socket is the same.
      expect(chooseStateRoot({ option: join(link, 'inner'), home: '/' })).toBe(join(place.stateRoot, 'inner'));
    } finally {
      rmSync(link);
      await owner.release();
    }
  });
});

test('an owner notices that its lock file was removed, moved with its folder, or replaced', async () => {
  const remove = (place: { stateRoot: string }) => rmSync(place.stateRoot, { recursive: true });
  const move = (place: { stateRoot: string }) => {
    renameSync(join(place.stateRoot, 'workspaces'), join(place.stateRoot, 'moved'));
  };
  const replace = (place: { stateRoot: string }) => {
    rmSync(lockOf(place));
    writeFileSync(lockOf(place), '');
  };
  const cover = (place: { stateRoot: string }) => {
    remove(place);
    writeFileSync(place.stateRoot, 'a file');
  };
  for (const lose of [remove, move, replace, cover]) {
    const place = newPlace();
    const owner = await ownWorkspace(place, { swarm: 'shop', runTag: 'tag' });
    expect(owner.isLost()).toBe(false);
    lose(place);
    expect(owner.isLost()).toBe(true);
    await owner.release().catch(() => undefined);
  }
});

test('an owner that released its workspace has lost it', async () => {
  const owner = await ownWorkspace(newPlace(), { swarm: 'shop', runTag: 'tag' });
  await owner.release();
  expect(owner.isLost()).toBe(true);
});

test('a pipe as lock file is rejected at once, and a huge lock file is not read', async () => {
  const place = newPlace();
  await (await ownWorkspace(place, { swarm: 'shop', runTag: 'tag' })).release();
  truncateSync(lockOf(place), 2 ** 40);
  await (await ownWorkspace(place, { swarm: 'shop', runTag: 'tag' })).release();
  expect(statSync(lockOf(place)).size).toBe(0);
  rmSync(lockOf(place));
  expect(Bun.spawnSync(['mkfifo', lockOf(place)]).success).toBe(true);
  expect(await rejectionOf(ownWorkspace(place, { swarm: 'shop', runTag: 'tag' }))).toMatchObject({
    code: 'E_STATE_ROOT',
    message: `${lockOf(place)} is not a regular file.`,
  });
});

test('a file system without flock is rejected, unless the lock is turned off', async () => {
  const place = newPlace();
  const flock = async () => ({ answer: 'unsupported', why: 'flock fails with errno 95' }) as const;
  expect(await rejectionOf(ownWorkspace({ ...place, flock }, { swarm: 'shop', runTag: 'tag' }))).toMatchObject({
    code: 'E_STATE_ROOT',
    message: `${lockOf(place)} cannot be locked: flock fails with errno 95.`,
    suggestion: expect.stringContaining('--no-flock'),
  });
  const owner = await ownWorkspace({ ...place, flock: false }, { swarm: 'shop', runTag: 'tag' });
  // Without flock, the file orchestrator.json is the lock. It protects only against processes that can see each other.
  expect(await rejectionOf(ownWorkspace(place, { swarm: 'other', runTag: 'x' }))).toMatchObject({
    code: 'E_SWARM_RUNNING',
  });
  await owner.release();
});

function race(rivals: readonly OwnerProcess[], stateRoot: string, runTag: string): Promise<OwnerAnswer[]> {
  const at = Date.now() + 20;
  return Promise.all(rivals.map((rival) => rival.own(stateRoot, runTag, at)));
}

/** A real process that runs commands of the test. */
class OwnerProcess {
  readonly #child: Bun.Subprocess;
  readonly #answers: ((answer: OwnerAnswer) => void)[] = [];

  private constructor(onReady: (answer: OwnerAnswer) => void) {
    this.#answers.push(onReady);
    this.#child = Bun.spawn([process.execPath, join(import.meta.dir, '../simulation/owner-process.ts')], {
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: (answer: OwnerAnswer) => this.#answers.shift()?.(answer),
    });
    children.push(this);
  }

  static async start(): Promise<OwnerProcess> {
    let child: OwnerProcess | undefined;
    await new Promise<OwnerAnswer>((resolve) => {
      child = new OwnerProcess(resolve);
    });
    if (!child) throw new Error('no process');
    return child;
  }

  get pid(): number {
    return this.#child.pid;
  }

  own(stateRoot: string, runTag: string, at = 0): Promise<OwnerAnswer> {
    return this.ask({ do: 'own', stateRoot, runTag, at });
  }

  ask(order: OwnerOrder): Promise<OwnerAnswer> {
    return new Promise((resolve) => {
      this.#answers.push(resolve);
      this.#child.send(order);
    });
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }
}
