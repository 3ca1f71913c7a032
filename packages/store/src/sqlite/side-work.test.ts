import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { rejectionOf } from '../../../runtime/src/workspace/simulation/rejection-of.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { SideThread } from './side-work.ts';

const root = temporaryFolder();

test('work is done one after the other, and one that fails ends no later work', async () => {
  using database = new Database(join(root, 'a.db'), { create: true });
  database.run('pragma journal_mode = wal');
  database.run('create table item (name text)');
  const side = new SideThread(database.filename);
  const works = [side.ask({ kind: 'snapshot', path: join(root, 'no', 'folder') }), side.ask({ kind: 'check' })];
  const [failed, checked] = await Promise.allSettled(works);
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'E_STORE_WRITE' } });
  expect(checked).toEqual({ status: 'fulfilled', value: [] });
  await side.ask({ kind: 'checkpoint' });
  const [[, log, copied] = []] = database.query('pragma wal_checkpoint(noop)').values();
  expect([copied, Number(log) > 0]).toEqual([log ?? null, true]);
  await side.close();
  expect(await rejectionOf(side.ask({ kind: 'check' }))).toMatchObject({ code: 'E_STORE_WRITE' });
});

test('a thread that cannot open the database answers with an error, also later, and can be closed', async () => {
  const side = new SideThread(join(root, 'no', 'a.db'));
  for (let time = 0; time < 2; time += 1) {
    expect(await rejectionOf(side.ask({ kind: 'check' }))).toMatchObject({ code: 'E_STORE_WRITE' });
    await Bun.sleep(50);
  }
  await side.close();
});
