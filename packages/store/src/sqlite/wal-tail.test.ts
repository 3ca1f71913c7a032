import { constants, Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { readWalTail } from './wal-tail.ts';

const root = temporaryFolder();
const FRAME = 4096 + 24;

/** Makes a log of this many transactions, as SQLite writes it. */
function makeLog(transactions: number, prepare: (database: Database) => void = () => undefined): Uint8Array {
  const path = join(mkdtempSync(join(root, 'a-')), 'a.db');
  const database = new Database(path, { create: true });
  database.run('pragma journal_mode = wal');
  database.run('pragma wal_autocheckpoint = 0');
  database.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
  database.run('create table item (id integer primary key, text text)');
  prepare(database);
  for (let n = 0; n < transactions; n += 1) database.run('insert into item (text) values (?)', ['x'.repeat(900)]);
  const log = readFileSync(`${path}-wal`);
  database.close();
  return log;
}

const tailOf = (log: Uint8Array) => readWalTail((at, length) => log.subarray(at, at + length), log.length);
const framesOf = (log: Uint8Array) => (log.length - 32) / FRAME;

test('a whole log is read whole, also with room behind it', () => {
  const log = makeLog(20);
  const whole = { whole: framesOf(log), dropped: 0 };
  expect(tailOf(log)).toEqual(whole);
  expect(tailOf(Buffer.concat([log, new Uint8Array(10 * FRAME)]))).toEqual(whole);
  for (const empty of [0, FRAME]) expect(tailOf(new Uint8Array(empty))).toEqual({ whole: 0, dropped: 0 });
});

test('a log that ends in the middle of a frame was torn, and nothing is missing', () => {
  const log = makeLog(20);
  expect(tailOf(log.subarray(0, log.length - 100))).toEqual({ whole: framesOf(log) - 1, dropped: 0 });
});

test('frames of an earlier log behind the end are no damage', () => {
  const log = makeLog(3, (database) => {
    for (let n = 0; n < 20; n += 1) database.run('insert into item (text) values (?)', ['y'.repeat(900)]);
    database.run('pragma wal_checkpoint(restart)');
  });
  const { whole, dropped } = tailOf(log);
  expect([whole < framesOf(log), dropped]).toEqual([true, 0]);
});

test('one flipped bit, wherever it is, shows how many frames SQLite would drop', () => {
  const log = makeLog(20);
  const last = framesOf(log) - 1;
  const steps = Array.from({ length: Math.floor(log.length / 997) }, (_, n) => n * 997);
  const headers = Array.from({ length: 56 }, (_, n) => (n < 32 ? n : 7 * FRAME + n));
  for (const place of [...steps, ...headers]) {
    const frame = Math.max(0, Math.floor((place - 32) / FRAME));
    const damaged = Uint8Array.from(log);
    damaged[place] = (damaged[place] ?? 0) ^ 4;
    const { whole, dropped } = tailOf(damaged);
    // The number of the page is not known of a header that is damaged there.
    expect([place, whole]).toEqual([place, place < 32 ? 0 : frame]);
    if (frame < last) expect([place, dropped >= last - frame]).toEqual([place, true]);
  }
});
