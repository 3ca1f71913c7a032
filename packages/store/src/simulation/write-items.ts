/**
 * A program that writes items until it ends or is killed: `bun write-items.ts FOLDER ROUNDS`. It prints a line for each
 * item that was confirmed: `durable` or `written`, conversation, number. The proofs of kills and of power cuts run it.
 */
import { writeSync } from 'node:fs';
import { openWorkspace } from '../sqlite/open-workspace.ts';

const CONVERSATIONS = 12;
/** Small, so that a short run has many checkpoints. */
const CHECKPOINT_PAGES = 60;
const ROOM_BYTES = 128 * 1024;

const [folder = '', rounds = ''] = process.argv.slice(2);
const tell = (line: string) => void writeSync(1, `${line}\n`);

const workspace = await openWorkspace(folder, {
  report: tell,
  checkpoints: { pages: CHECKPOINT_PAGES, everyCommits: 4 },
});
const { database, commits } = workspace;
await commits.write(() =>
  database.run(
    'create table if not exists item (conversation integer, number integer, text text, primary key (conversation, number))',
  ),
);
const insert = database.prepare('insert into item values (?, ?, ?)');
const last = database.query<{ last: number }, [number]>(
  'select coalesce(max(number), 0) as last from item where conversation = ?',
);

await workspace.makeRoom(ROOM_BYTES);
tell('start');
await Promise.all(
  Array.from({ length: CONVERSATIONS }, async (_, conversation) => {
    const first = (last.get(conversation)?.last ?? 0) + 1;
    for (let number = first; number < first + Number(rounds); number += 1) {
      // The conversations do not go in step, so that some commit while others sync.
      const isDurable = (number + conversation) % 3 !== 0;
      const text = 'x'.repeat(200 + ((number * 37) % 900));
      await commits.write(() => insert.run(conversation, number, text), { isDurable });
      tell(`${isDurable ? 'durable' : 'written'} ${conversation} ${number}`);
    }
  }),
);
insert.finalize();
await workspace.close();
tell('end');
