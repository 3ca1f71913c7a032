import { Database } from 'bun:sqlite';
import { beforeEach, describe, expect, spyOn, test } from 'bun:test';
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { rejectionOf } from '../../../runtime/src/workspace/simulation/rejection-of.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { until } from '../../../../test/until.ts';
import { refuseSharedDisk } from './inspect-files.ts';
import { openWorkspace, type WorkspaceOptions } from './open-workspace.ts';

const root = temporaryFolder();
let folder: string;
let problems: string[];
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(root, 'a-'));
  problems = [];
  path = join(folder, 'workspace.db');
});

const open = (options: Partial<WorkspaceOptions> = {}) =>
  openWorkspace(folder, { report: (problem) => void problems.push(problem), ...options });

describe('a database', () => {
  test('keeps what was written, has a new epoch at each open, and knows how it was left', async () => {
    const first = await open();
    await first.commits.write(() => first.database.run('create table item (name text)'));
    await first.commits.write(() => first.database.run("insert into item values ('a')"));
    await first.close();
    const second = await open();
    expect([first.epoch, second.epoch, first.wasLeft, second.wasLeft]).toEqual([1, 2, false, false]);
    expect(second.database.query('select name from item').values()).toEqual([['a']]);
    await second.close();
    expect([problems, statSync(path).mode & 0o777]).toEqual([[], 0o600]);
  });

  test.skipIf(process.platform !== 'linux')('keeps its locks, whatever is done with it', async () => {
    const workspace = await open({ checkpoints: { pages: 1, everyCommits: 4 } });
    // The side thread opens its connection, too.
    await workspace.side.ask({ kind: 'check' });
    const locks = locksOf();
    expect(locks.length).toBeGreaterThan(0);
    await workspace.makeRoom();
    await workspace.commits.write(() => workspace.database.run('create table item (name text)'));
    for (let n = 0; n < 80; n += 1)
      await workspace.commits.write(() => workspace.database.run('insert into item values (1)'));
    expect(await workspace.side.ask({ kind: 'check' })).toEqual([]);
    await workspace.side.ask({ kind: 'snapshot', path: join(folder, 'copy.db') });
    expect(locksOf()).toEqual(locks);
    await workspace.close();
    expect([locksOf(), problems]).toEqual([[], []]);
    using copy = new Database(join(folder, 'copy.db'), { readonly: true });
    expect(copy.query('select count(*) from item').values()).toEqual([[80]]);
  });

  test('whose log lost its end is reported, and the log is kept', async () => {
    const workspace = await open();
    await workspace.commits.write(() => workspace.database.run('create table item (name text)'));
    for (let n = 0; n < 9; n += 1)
      await workspace.commits.write(() => workspace.database.run('insert into item values (1)'));
    const [database, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    await workspace.close();
    log[5000] = (log[5000] ?? 0) ^ 1;
    writeFileSync(path, database);
    writeFileSync(`${path}-wal`, log);
    await (await open({ now: () => new Date(0) })).close();
    const copy = `${path}-wal.1970-01-01T00-00-00.000Z`;
    expect(problems).toEqual([expect.stringContaining(copy)]);
    expect(readFileSync(copy).equals(log)).toBe(true);
  });

  test('has room in its log, and a log that does not grow', async () => {
    const workspace = await open({ checkpoints: { pages: 10, everyCommits: 8 } });
    const { database, commits, side } = workspace;
    await commits.write(() => database.run('create table item (name text)'));
    await workspace.makeRoom(200_000);
    await workspace.makeRoom(100_000);
    expect(statSync(`${path}-wal`).size).toBe(200_000);
    for (let n = 1; n <= 640; n += 1) {
      await commits.write(() => database.run('insert into item values (1)'), { isDurable: false });
      // The check begins after the checkpoint.
      if (n % 32 === 0) await side.ask({ kind: 'check' });
    }
    expect(statSync(`${path}-wal`).size).toBe(200_000);
    await workspace.close();
    expect(statSync(`${path}-wal`).size).toBe(0);
  });

  test('is closed after its last change, once, and takes no more; a second open is refused', async () => {
    const workspace = await open();
    expect(await rejectionOf(open())).toMatchObject({ code: 'E_LOCKED' });
    const written = workspace.commits.write(() => workspace.database.run('create table item (name text)'));
    await Promise.all([workspace.close(), workspace.close()]);
    await written;
    expect(await rejectionOf(workspace.makeRoom())).toMatchObject({ code: 'E_SWARM_STOPPED' });
    await (await open()).close();
    using database = new Database(path);
    expect(database.query("select name from sqlite_schema where name = 'item'").values()).toHaveLength(1);
  });

  test('that a foreign program writes is waited for, at the open and at the close', async () => {
    await (await open()).close();
    using other = new Database(path);
    other.run('begin immediate');
    const opening = open();
    await Bun.sleep(20);
    other.run('rollback');
    const workspace = await opening;
    other.run('begin immediate');
    const closing = workspace.close();
    await Bun.sleep(20);
    other.run('rollback');
    await closing;
    const again = await open();
    expect([again.wasLeft, problems]).toEqual([false, []]);
    await again.close();
    other.run('begin immediate');
    expect(await rejectionOf(open({ foreignMs: 20 }))).toMatchObject({ code: 'E_STORE_WRITE', retryable: true });
  });

  test.each(['in a checkpoint', 'in the last one'])('that SQLite could not sync %s is not closed', async (when) => {
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => void failures.push(error);
    const workspace = await open({ checkpoints: { pages: 1, everyCommits: 1 }, onFailure });
    const failed = Object.assign(new Error('no sync'), { code: 'SQLITE_IOERR_FSYNC' });
    if (when === 'in a checkpoint') {
      spyOn(workspace.side, 'ask').mockRejectedValueOnce(failed);
      // The failure may come before or after the change is confirmed.
      const change = workspace.commits.write(() => workspace.database.run('create table item (name text)'));
      await Promise.allSettled([change]);
      await until(() => failures.length > 0);
    } else {
      spyOn(workspace.database, 'run').mockImplementation(() => {
        throw failed;
      });
    }
    const before = readFileSync(path);
    await workspace.close();
    expect([failures.length, readFileSync(path).equals(before)]).toEqual([1, true]);
    expect(await rejectionOf(open())).toMatchObject({ code: 'E_LOCKED' });
  });

  test.skipIf(process.platform !== 'linux')('is closed though somebody left a statement open', async () => {
    const workspace = await open();
    workspace.database.prepare('select * from meta').iterate().next();
    await workspace.close();
    expect([locksOf(), problems]).toEqual([[], []]);
  });

  test('copies its log also without the side thread', async () => {
    const workspace = await open({ checkpoints: { pages: 1, everyCommits: 1 } });
    const { commits, database, side } = workspace;
    spyOn(side, 'ask').mockRejectedValue(new Error('it has ended'));
    for (let n = 0; n < 5; n += 1) await commits.write(() => database.run(`create table item_${n} (name text)`));
    await until(() => statSync(path).size > 3 * 4096);
    await workspace.close();
    expect(problems).toEqual(['it has ended']);
  });

  test.each(['workspace.db', 'workspace.db-wal'])(
    'whose %s is removed while it runs ends with an error',
    async (name) => {
      const failures: string[] = [];
      const workspace = await open({
        checkpoints: { everyCommits: 1 },
        onFailure: ({ message }) => void failures.push(message),
      });
      const { commits, database } = workspace;
      await commits.write(() => database.run('create table item (name text)'));
      rmSync(join(folder, name));
      await commits.write(() => database.run('insert into item values (1)'), { isDurable: false });
      expect(await rejectionOf(commits.write(() => database.run('insert into item values (2)')))).toMatchObject({
        code: 'E_STORE_WRITE',
      });
      await workspace.close();
      expect(failures).toEqual([expect.stringContaining('was removed or replaced')]);
    },
  );

  test('without its file beside a log, or without its log after a crash, is not taken for whole', async () => {
    const workspace = await open();
    await workspace.commits.write(() => workspace.database.run('create table item (name text)'));
    const [database, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    await workspace.close();
    rmSync(path);
    writeFileSync(`${path}-wal`, log);
    expect(await rejectionOf(open())).toMatchObject({ code: 'E_STORE_CORRUPT' });
    rmSync(`${path}-wal`);
    writeFileSync(path, database);
    await (await open()).close();
    expect(problems).toEqual([expect.stringContaining('-wal is missing')]);
  });

  test.each([
    ['of another program', 'pragma application_id = 7; create table a (b)', 'E_STORE_FORMAT'],
    ['of another program, without a number', 'create table a (b)', 'E_STORE_FORMAT'],
    ['of another program, with our version', 'pragma application_id = 7; pragma user_version = 1', 'E_STORE_FORMAT'],
    [
      'of a newer version',
      'pragma application_id = 1196379982; pragma user_version = 9; create table a (b)',
      'E_STORE_FORMAT',
    ],
  ])('%s is refused', async (_title, sql, code) => {
    const other = new Database(path, { create: true });
    other.exec(sql);
    other.close();
    chmodSync(path, 0o640);
    const before = readFileSync(path);
    expect(await rejectionOf(open())).toMatchObject({ code });
    expect([readFileSync(path).equals(before), statSync(path).mode & 0o777]).toEqual([true, 0o640]);
  });

  test('of a newer version is refused although only its log says so, and the log stays', async () => {
    const other = new Database(join(folder, 'other.db'), { create: true });
    other.run('pragma journal_mode = wal');
    other.run('pragma application_id = 1196379982');
    other.run('pragma user_version = 9');
    for (const end of ['', '-wal']) writeFileSync(`${path}${end}`, readFileSync(`${other.filename}${end}`));
    other.close();
    expect(await rejectionOf(open())).toMatchObject({ code: 'E_STORE_FORMAT' });
    expect(readdirSync(folder)).toContain('workspace.db-wal');
  });

  test('that is no database is refused, and stays as it is', async () => {
    appendFileSync(path, 'something else');
    expect(await rejectionOf(open())).toMatchObject({ code: 'E_STORE_CORRUPT' });
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['workspace.db'], 'something else']);
  });

  test('behind a link is not opened', async () => {
    symlinkSync(join(folder, 'elsewhere'), path);
    expect(await rejectionOf(open())).toMatchObject({ code: 'E_STORE_WRITE' });
    expect(readdirSync(folder)).toEqual(['workspace.db']);
  });
});

test('a disk that other machines may write is refused', () => {
  expect(() => refuseSharedDisk(folder, 0x6969)).toThrow('is on a shared disk (NFS)');
  refuseSharedDisk(folder);
});

/** The locks of this process on the database and its memory, as the kernel lists them. */
function locksOf(): readonly string[] {
  const inodes = new Set([path, `${path}-shm`].flatMap((each) => statSync(each, { throwIfNoEntry: false })?.ino ?? []));
  const lines = readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .map((line) => line.split(/\s+/));
  return lines
    .filter(
      ([, kind, , , pid, place]) =>
        kind === 'POSIX' && pid === `${process.pid}` && inodes.has(Number(place?.split(':')[2])),
    )
    .map((line) => line.slice(1).join(' '))
    .toSorted();
}
