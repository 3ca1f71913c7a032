// Backups, on the simulated disk, of conversations whose turns take inputs while they run.
import { expect, test } from 'bun:test';
import type { Journal } from '../journal/journal.ts';
import { gatedFs, runTurn } from '../simulation/busy-workspace.ts';
import {
  backUpOriginal,
  handleTurn,
  messageIds,
  openOriginal,
  openRestored,
  workspace,
} from '../simulation/simulated-backup.ts';
import { simulatedBundleDisk } from '../simulation/simulated-bundle-disk.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { messagesOf, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { runSteeredTurn, tookRecord } from '../simulation/steered-turn.ts';

const one = { agentName: 'coder', instanceKey: 'one' };
const now = (id: string) => simpleEvent(id, { delivery: 'now' });

/** Backs up the workspace and restores it. `action` runs between the copies of the inbox and of the conversation. */
async function copied(disk: SimulatedDisk, action?: () => Promise<void>): Promise<Journal> {
  let isOver = action === undefined;
  const fs = gatedFs(simulatedBundleDisk(disk), async (operation, path) => {
    if (isOver || operation !== 'read' || path !== `${workspace}/instances/coder~one/metadata.json`) return;
    isOver = true;
    await action?.();
  });
  const { problems } = await backUpOriginal(disk, fs);
  expect([isOver, problems]).toEqual([true, []]);
  return openRestored(disk);
}

/** Begins the turn of `first`, which takes the input of the event after it. */
async function beginSteered(journal: Journal, taken: string, seq: number) {
  const opened = await journal.open(one, 'turn-first', { seq: seq - 1, event: simpleEvent('first') });
  const records = [...simpleRecords('first'), tookRecord({ seq, event: now(taken) }, 1)];
  await journal.append(one, opened.epoch, 0, records);
  return records;
}

const pendingIds = async (journal: Journal) => (await journal.pendingEntries(one)).map(({ event }) => event.id);

test('Y-08 a turn that was interrupted after it took an input goes on in the restored workspace, with the input once', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openOriginal(disk);
  await journal.accept(one, simpleEvent('first'));
  await journal.accept(one, now('taken'));
  const records = await beginSteered(journal, 'taken', 2);
  const again = await copied(disk);
  expect(await pendingIds(again)).toEqual(['first', 'taken']);
  const opened = await again.open(one, 'turn-first', { seq: 1, event: simpleEvent('first') });
  expect(opened.log.flatMap((record) => (record.type === 'message' && record.took ? [record.took.seq] : []))).toEqual([
    2,
  ]);
  const result = { turnId: 'turn-first', finishReason: 'text_response' } as const;
  const delta = { type: 'append', messages: messagesOf(records) } as const;
  await again.commit(one, opened.epoch, 'turn-first', delta, {}, result);
  expect([await pendingIds(again), await messageIds(again, one)]).toEqual([
    [],
    messagesOf(records).map(({ id }) => id),
  ]);
  await again.close();
  await journal.close();
});

test('Y-08 a turn that took an input after the copy of the inbox begins anew in the restored workspace', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openOriginal(disk);
  await handleTurn(journal, one, 'zero');
  await journal.accept(one, simpleEvent('first'));
  const again = await copied(disk, async () => {
    await journal.accept(one, now('late'));
    await beginSteered(journal, 'late', 3);
  });
  expect(await pendingIds(again)).toEqual(['first']);
  await runTurn(again, one, 'first');
  expect(await messageIds(again, one)).toEqual(['input-zero', 'answer-zero', 'input-first', 'answer-first']);
  await again.close();
  await journal.close();
});

test('Y-08 a turn that was committed after the copy of the inbox, with inputs that overtook others, does not block', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openOriginal(disk);
  await handleTurn(journal, one, 'zero');
  await journal.accept(one, simpleEvent('first'));
  const again = await copied(disk, async () => {
    // It was accepted after the copy of the inbox, so the backup does not have it.
    await journal.accept(one, simpleEvent('overtaken'));
    await journal.accept(one, now('late'));
    await runSteeredTurn(journal, one, 'first', ['late']);
  });
  expect(await pendingIds(again)).toEqual([]);
  expect(await messageIds(again, one)).toContain('input-late');
  await again.accept(one, simpleEvent('next'));
  expect((await again.pendingEntries(one)).map(({ seq }) => seq)).toEqual([5]);
  await runTurn(again, one, 'next');
  expect(await messageIds(again, one)).toContain('answer-next');
  await again.close();
  await journal.close();
});
