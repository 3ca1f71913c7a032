import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { GoondanError } from '@goondan/types';
import { rejectionOf } from '../../../runtime/src/workspace/simulation/rejection-of.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts';
import type { SyncedLog } from './synced-files.ts';

const root = temporaryFolder();
let folder: string;
let database: Database;
const ends: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(root, 'a-'));
  database = connect();
  database.run('create table item (id integer primary key, name text not null unique)');
});
afterEach(() => {
  for (const end of ends.splice(0).toReversed()) end();
});

function connect(): Database {
  const opened = new Database(join(folder, 'a.db'), { create: true, strict: true });
  opened.run('pragma journal_mode = wal');
  opened.run('pragma synchronous = normal');
  ends.push(() => opened.close());
  return opened;
}

/** A log whose syncs end when the test says so, or at once. */
function manualLog() {
  const underWay: PromiseWithResolvers<void>[] = [];
  const state = { isManual: false, isBroken: false, syncs: 0 };
  const sync = () => {
    state.syncs += 1;
    if (state.isBroken) throw Object.assign(new Error('it is broken'), { code: 'EIO' });
  };
  const log: SyncedLog = {
    syncHere: sync,
    async syncAside() {
      sync();
      if (!state.isManual) return;
      underWay.push(Promise.withResolvers());
      await underWay.at(-1)?.promise;
    },
  };
  return {
    log,
    state,
    end: () => underWay.shift()?.resolve(),
    fail: () => underWay.shift()?.reject(new Error('it broke')),
  };
}

function open(options: GroupCommitOptions = {}) {
  const disk = manualLog();
  let commits = 0;
  const group = new GroupCommit(database, { log: disk.log, onCommit: () => void (commits += 1), ...options });
  return { ...disk, group, commits: () => commits };
}

/** Resolves with true when the promise is settled before the loop has turned a few times. */
const isSettled = async (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    Bun.sleep(10).then(() => false),
  ]);

const add = (name: string) => () => void database.run('insert into item (name) values (?)', [name]);
const names = () => database.query('select name from item order by id').values().flat();

describe('changes', () => {
  test('that come in together are one transaction, in their order', async () => {
    const { group, commits } = open();
    const changes = ['a', 'b', 'c', 'd'].map((name, n) => group.write(add(name), { isDurable: n % 2 === 0 }));
    await Promise.all(changes);
    expect([names(), commits()]).toEqual([['a', 'b', 'c', 'd'], 1]);
    expect(await group.write(() => 7)).toBe(7);
  });

  test('that fail leave nothing, and the others of their transaction stay', async () => {
    let rollbacks = 0;
    const { group } = open({ onRollback: () => void (rollbacks += 1) });
    const twice = () => {
      add('b')();
      add('a')();
    };
    const [first, second, third] = await Promise.allSettled(
      [add('a'), twice, add('c')].map((make) => group.write(make)),
    );
    expect([first?.status, third?.status, names(), rollbacks]).toEqual(['fulfilled', 'fulfilled', ['a', 'c'], 1]);
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'E_STORE_WRITE' } });
  });

  test('are refused when too many wait', async () => {
    const { group } = open();
    const waiting = Array.from({ length: 20_000 }, () => group.write(() => undefined, { isDurable: false }));
    expect(await rejectionOf(group.write(add('a')))).toMatchObject({ code: 'E_STORE_WRITE', retryable: true });
    await Promise.all(waiting);
    await group.write(add('b'));
    expect(names()).toEqual(['b']);
  });

  test('on a full disk are refused, and those that fit beside them are made', async () => {
    const { group } = open();
    database.run('pragma max_page_count = 4');
    const big = () => void database.run('insert into item (name) values (?)', ['x'.repeat(100_000)]);
    const [, refused] = await Promise.allSettled([add('a'), big, add('b')].map((make) => group.write(make)));
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'E_DISK_FULL' } });
    expect(names()).toEqual(['a', 'b']);
  });

  test('that fail at the commit are refused, and the others of their transaction are made', async () => {
    const { group } = open();
    database.run('pragma foreign_keys = on');
    database.run('create table part (item integer references item deferrable initially deferred)');
    const orphan = () => void database.run('insert into part values (7)');
    const [first, second] = await Promise.allSettled([add('a'), orphan].map((make) => group.write(make)));
    expect([first?.status, second?.status, names()]).toEqual(['fulfilled', 'rejected', ['a']]);
    await group.write(add('b'));
    expect(names()).toEqual(['a', 'b']);
  });

  test('that return a promise are refused, because their rest would be made later', async () => {
    const { group } = open();
    const later = async () => add('a')();
    expect(await rejectionOf(group.write(later))).toMatchObject({ code: 'E_STORE_WRITE' });
    expect(names()).toEqual([]);
  });
});

describe('a foreign writer', () => {
  test('is waited for without blocking the loop, and the changes keep their order', async () => {
    const { group } = open({ foreignMs: 400 });
    const other = connect();
    other.run('begin immediate');
    const first = group.write(add('first'));
    await Bun.sleep(20);
    const second = group.write(add('second'));
    await Bun.sleep(20);
    expect(names()).toEqual([]);
    other.run('rollback');
    await Promise.all([first, second]);
    await Bun.sleep(420);
    other.run('begin immediate');
    const third = group.write(add('third'));
    await Bun.sleep(20);
    other.run('rollback');
    await third;
    expect(names()).toEqual(['first', 'second', 'third']);
  });

  test('that stays too long is an error, and later changes are made', async () => {
    const { group } = open({ foreignMs: 20 });
    const other = connect();
    other.run('begin immediate');
    expect(await rejectionOf(group.write(add('lost')))).toMatchObject({ code: 'E_STORE_WRITE', retryable: true });
    other.run('rollback');
    await group.write(add('later'));
    other.run('begin immediate');
    const last = group.write(add('last'));
    expect(await isSettled(last)).toBe(false);
    other.run('rollback');
    await last;
    expect(names()).toEqual(['later', 'last']);
  });
});

test('changes that get a transaction each keep their order, also behind a foreign writer, who ends all at once', async () => {
  const other = connect();
  let onRollback = () => undefined as unknown;
  const { group } = open({ foreignMs: 60, onRollback: () => onRollback() });
  const full = () => {
    database.run('rollback');
    throw new Error('it is full');
  };
  /** The other program takes the database when the transaction of all three has ended. */
  const write = (first: string, last: string) => {
    onRollback = () => {
      onRollback = () => undefined;
      other.run('begin immediate');
    };
    return [add(first), full, add(last)].map((make) => group.write(make));
  };
  const changes = write('a', 'b');
  await Bun.sleep(10);
  changes.push(group.write(add('newer')));
  other.run('rollback');
  await Promise.allSettled(changes);
  expect(names()).toEqual(['a', 'b', 'newer']);
  const late = write('c', 'd').map(rejectionOf);
  await late[0];
  expect([await isSettled(Promise.all(late)), names()]).toEqual([true, ['a', 'b', 'newer']]);
});

test('a change that closes the writer is made', async () => {
  const { group } = open();
  let closed: Promise<void> | undefined;
  await group.write(() => {
    closed = group.close();
    add('a')();
  });
  await closed;
  expect(names()).toEqual(['a']);
});

describe('a durable change', () => {
  test('is confirmed by a sync that began after its commit; others do not wait', async () => {
    const { group, state, end } = open();
    state.isManual = true;
    const first = group.write(add('first'));
    expect(await isSettled(first)).toBe(false);
    const second = group.write(add('second'));
    const quick = group.write(add('quick'), { isDurable: false });
    expect([await isSettled(quick), await isSettled(second), names()]).toEqual([
      true,
      false,
      ['first', 'second', 'quick'],
    ]);
    end();
    expect([await isSettled(first), await isSettled(second), state.syncs]).toEqual([true, false, 2]);
    end();
    expect(await isSettled(second)).toBe(true);
  });

  test('is refused while too many wait for the disk', async () => {
    const { group, state, end } = open();
    state.isManual = true;
    const waiting = Array.from({ length: 20_000 }, () => group.write(() => undefined));
    await Bun.sleep(10);
    expect(await rejectionOf(group.write(add('a')))).toMatchObject({ code: 'E_STORE_WRITE', retryable: true });
    end();
    await Promise.all(waiting);
  });
});

describe('a failed sync', () => {
  test.each(['at once', 'later'])('ends the writer: nothing is confirmed any more (%s)', async (when) => {
    const failures: unknown[] = [];
    const { group, state, fail, commits } = open({ onFailure: (error) => void failures.push(error) });
    state.isBroken = when === 'at once';
    state.isManual = true;
    const first = group.write(add('first'));
    if (when === 'later') {
      expect(await isSettled(first)).toBe(false);
      fail();
    }
    const second = group.write(add('second'));
    for (const change of [first, second]) expect(await rejectionOf(change)).toMatchObject({ code: 'E_STORE_WRITE' });
    expect(await rejectionOf(group.write(add('later')))).toMatchObject({ code: 'E_STORE_WRITE' });
    expect([group.hasFailed, failures.length, state.syncs, names().includes('later')]).toEqual([true, 1, 1, false]);
    expect(commits()).toBeLessThan(2);
    await group.close();
  });
});

test.each(['goes on', 'throws'])(
  'a change that finds out about a failed sync, and %s, ends the writer',
  async (how) => {
    const { group, state } = open();
    let runs = 0;
    const fail = () => {
      runs += 1;
      group.fail(new Error('it broke'));
      void group.close();
      if (how === 'throws') database.run('rollback');
    };
    const changes = [group.write(add('a')), group.write(fail), group.write(add('b'))];
    for (const change of changes) {
      const { code, message } = (await rejectionOf(change)) as GoondanError;
      expect([code, message.includes('it broke')]).toEqual(['E_STORE_WRITE', true]);
    }
    await group.close();
    expect([state.syncs, runs]).toEqual([0, 1]);
  },
);

test('a sync that SQLite could not do ends the writer, too', async () => {
  const { group } = open();
  const broken = () => {
    database.run('rollback');
    throw Object.assign(new Error('no sync'), { code: 'SQLITE_IOERR_FSYNC' });
  };
  expect(await rejectionOf(group.write(broken))).toMatchObject({ code: 'E_STORE_WRITE' });
  expect(group.hasFailed).toBe(true);
});

test('a closed writer has settled all changes, and takes no more', async () => {
  const { group, state, end } = open();
  state.isManual = true;
  const change = group.write(add('a'));
  const closed = group.close();
  expect(await rejectionOf(group.write(add('b')))).toMatchObject({ code: 'E_SWARM_STOPPED' });
  expect(await isSettled(closed)).toBe(false);
  end();
  await Promise.all([change, closed, group.close()]);
  expect(names()).toEqual(['a']);
});
