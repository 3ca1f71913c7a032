import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { until } from '../../../../test/until.ts';
import { openWorkspace } from './open-workspace.ts';
import { snapshotsOf, Upkeep, type UpkeepOptions } from './upkeep.ts';

const root = temporaryFolder();

async function open(folder = mkdtempSync(join(root, 'a-')), options: Partial<UpkeepOptions> = {}) {
  const problems: string[] = [];
  const report = (problem: string) => void problems.push(problem);
  const workspace = await openWorkspace(folder, { report });
  const { database, commits } = workspace;
  const upkeep = new Upkeep(workspace, { report, ...options });
  await commits.write(() => database.run('create table if not exists item (text text)'));
  const add = (text: string) => commits.write(() => database.run('insert into item values (?)', [text]));
  const close = async () => {
    await upkeep.close();
    await workspace.close();
  };
  return { folder, workspace, upkeep, problems, add, close, ...snapshotsOf(database.filename) };
}

function itemsIn(path: string) {
  using database = new Database(path, { readonly: true });
  return database.query('select text from item').values().flat();
}

test('two copies are kept, for the owner only, and none is made without a change', async () => {
  const { folder, upkeep, add, close, last, before, problems } = await open();
  for (const text of ['a', 'b', 'c']) {
    await add(text);
    await upkeep.run();
  }
  const made = statSync(last).ino;
  await upkeep.run();
  await close();
  expect([itemsIn(last), itemsIn(before)]).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b'],
  ]);
  expect([statSync(last).mode & 0o777, statSync(last).ino, problems]).toEqual([0o600, made, []]);
  expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([]);
});

test('a disk without room gets no copy, and says so', async () => {
  const { upkeep, close, last, problems } = await open(undefined, { freeBytes: () => 1000 });
  await upkeep.run();
  await close();
  expect([statSync(last, { throwIfNoEntry: false }), problems]).toEqual([
    undefined,
    [expect.stringContaining('too little room')],
  ]);
});

test('a damaged page is reported after a crash, and replaces no copy', async () => {
  const { folder, workspace, upkeep, add, close, last } = await open();
  for (let n = 0; n < 50; n += 1) await add('x'.repeat(500));
  await upkeep.run();
  await close();
  const path = workspace.database.filename;
  const [copy, bytes] = [readFileSync(last), readFileSync(path)];
  bytes.fill(0xff, 2 * 4096, 2 * 4096 + 200);
  writeFileSync(path, bytes);
  const left = new Database(path);
  left.run("update meta set value = 0 where name = 'clean'");
  left.close();
  const again = await open(folder);
  // After a crash the check comes at once.
  await until(() => again.problems.some((problem) => problem.includes('is damaged')));
  await again.upkeep.run();
  await again.close();
  expect([again.workspace.wasLeft, readFileSync(last).equals(copy)]).toEqual([true, true]);
});

test('a copy is made in time, also after one that a crash left unfinished', async () => {
  const { folder, add, close, last } = await open(undefined, { everyMs: 5 });
  writeFileSync(`${last}-unfinished`, 'torn');
  await add('a');
  await until(() => existsSync(last) && itemsIn(last).length === 1);
  await close();
  expect(readdirSync(folder)).not.toContain('workspace.db.snapshot-unfinished');
});

test('copies that are asked for at once follow each other, and work that fails ends no later work', async () => {
  let fails = true;
  const freeBytes = () => (fails ? (JSON.parse('') as number) : Infinity);
  const { upkeep, add, close, last, problems } = await open(undefined, { freeBytes });
  await add('a');
  await upkeep.run();
  fails = false;
  await Promise.all([upkeep.run(), upkeep.run()]);
  await close();
  expect([itemsIn(last), problems.length, statSync(last).mode & 0o777]).toEqual([['a'], 1, 0o600]);
});
