import { expect, test } from 'bun:test';
import { gatedFs } from '../simulation/busy-workspace.ts';
import { failingFs } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { coder, openSimulated as open } from '../simulation/simulated-journal.ts';
import { runSimpleTurn } from '../simulation/simulated-turn.ts';

const folder = '/state/workspaces/simulation/instances/coder~default';

/** A log with a checkpoint whose messages are in `base.jsonl`, without `metadata.json`, and with a damaged first frame. */
async function diskWithoutHead(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  const owner = await open(disk, 1, { shortBaseBytes: 0, checkpointBytes: 1 });
  for (const id of ['a', 'b']) await runSimpleTurn(owner, coder, id);
  await owner.read(coder);
  await disk.remove(`${folder}/metadata.json`);
  const file = await disk.openRoom(`${folder}/messages/events.jsonl`);
  await file.write(30, Buffer.from('~'));
  return disk;
}

test('a damaged first frame is not taken for a mere head, if a base shows that there was a checkpoint', async () => {
  const disk = await diskWithoutHead();
  expect((await disk.stat(`${folder}/messages/base.jsonl`))?.size).toBeGreaterThan(0);
  const journal = await open(disk, 2);
  const problem = { code: 'E_STORE_CORRUPT', message: expect.stringContaining('events.jsonl is damaged') };
  expect(await rejectionOf(journal.read(coder))).toMatchObject(problem);
  expect(await rejectionOf(journal.fork(coder, { as: 'copy' }))).toMatchObject(problem);
});

test('a log whose history was cut is not taken for a new one when its checkpoint is missing', async () => {
  const disk = SimulatedDisk.empty();
  await runSimpleTurn(await open(disk, 1), coder, 'a');
  expect((await (await open(disk, 2)).read(coder)).messages).toHaveLength(2);
  await disk.remove(`${folder}/metadata.json`);
  await disk.createNew(`${folder}/messages/history-start.jsonl`, Buffer.from('{}\n'));
  const message = expect.stringMatching(/metadata.json is damaged: it is missing, but .*history-start.jsonl exists/);
  expect(await rejectionOf((await open(disk, 3)).read(coder))).toMatchObject({ code: 'E_STORE_CORRUPT', message });
});

test.each(['closes the conversation', 'begins a second segment'])(
  'a reader is not misled by an owner that %s between the read of the checkpoint and the read of the log',
  async (event) => {
    const disk = SimulatedDisk.empty();
    const archive = { bytes: event.startsWith('begins') ? 4_000 : 1_000_000, files: 9 };
    const owner = await open(disk, 1, { archive });
    await runSimpleTurn(owner, coder, 'a');
    let races = 0;
    const racing = gatedFs(
      failingFs(disk, () => undefined),
      async (operation, path) => {
        // The reader has found no `metadata.json`, and looks for the segments of the log.
        if (races > 0 || operation !== 'list' || path !== `${folder}/messages`) return;
        races += 1;
        expect(await disk.stat(`${folder}/metadata.json`)).toBeUndefined();
        if (event.startsWith('closes')) return owner.close();
        await runSimpleTurn(owner, coder, 'b', { text: 'x'.repeat(5_000) });
        // Waits for the work after the turn.
        await owner.read(coder);
      },
    );
    const reader = await open(racing, 2);
    const { messages } = await reader.read(coder);
    expect(races).toBe(1);
    expect(messages.length).toBe(event.startsWith('closes') ? 2 : 4);
    await owner.close();
  },
);
