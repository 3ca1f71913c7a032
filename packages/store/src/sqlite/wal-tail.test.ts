import { constants, Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { countDropped } from './wal-tail.ts';

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

const droppedIn = (log: Uint8Array) => countDropped((at, length) => log.subarray(at, at + length), log.length);
const framesOf = (log: Uint8Array) => (log.length - 32) / FRAME;

test('a whole log drops nothing, also with room behind it', () => {
  const log = makeLog(20);
  const logs = [log, Buffer.concat([log, new Uint8Array(10 * FRAME)]), new Uint8Array(), new Uint8Array(FRAME)];
  expect(logs.map(droppedIn)).toEqual([0, 0, 0, 0]);
});

test('a log that ends in the middle of a frame was torn, and nothing is missing', () => {
  const log = makeLog(20);
  expect(droppedIn(log.subarray(0, log.length - 100))).toBe(0);
});

test('frames of an earlier log behind the end are no damage', () => {
  const log = makeLog(3, (database) => {
    for (let n = 0; n < 20; n += 1) database.run('insert into item (text) values (?)', ['y'.repeat(900)]);
    database.run('pragma wal_checkpoint(restart)');
  });
  expect([framesOf(log) > 20, droppedIn(log)]).toEqual([true, 0]);
});

test('one flipped bit, wherever it is, shows how many frames SQLite would drop', () => {
  const log = makeLog(20);
  const frames = framesOf(log);
  const steps = Array.from({ length: Math.floor(log.length / 997) }, (_, n) => n * 997);
  const headers = Array.from({ length: 56 }, (_, n) => (n < 32 ? n : 7 * FRAME + n));
  for (const place of [...steps, ...headers]) {
    // With a damaged header, no frame is read. Otherwise the damaged frame is the first that is not.
    const behind = place < 32 ? frames : frames - Math.floor((place - 32) / FRAME) - 1;
    const damaged = Uint8Array.from(log);
    damaged[place] = (damaged[place] ?? 0) ^ 4;
    expect([place, droppedIn(damaged)]).toEqual([place, behind]);
  }
});
