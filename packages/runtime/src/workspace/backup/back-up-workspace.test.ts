import { describe, expect, test } from 'bun:test';
import { samples } from '../../../../../test/samples.ts';
import type { BundleFs } from '../../ports/bundle-fs.ts';
import { openJournal } from '../journal/journal.ts';
import { failingFs } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { backUpOriginal, handleTurn, openOriginal, openRestored, workspace } from '../simulation/simulated-backup.ts';
import { simulatedBundleDisk } from '../simulation/simulated-bundle-disk.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { simpleEvent } from '../simulation/simulated-turn.ts';
import { from, gatedFs, instances, keepBusy, limits, runTurn } from '../simulation/busy-workspace.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Backs up a workspace while its owner goes on between the operations of the backup. */
async function backUpBusy(seed: number) {
  const random = seededRandom(seed);
  const disk = SimulatedDisk.empty();
  const machine = simulatedMachine(disk, 0);
  const waiting: (() => void)[] = [];
  let isGated = false;
  const owned = gatedFs(
    failingFs(disk, () => undefined),
    async () => {
      if (isGated) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  );
  // Half of the logs have several files. The other half changes without a new file.
  const archive = seed % 2 === 0 ? limits.archive : { bytes: 60_000, files: 2 };
  const journal = await openJournal({ ...machine, fs: owned }, from, { ...limits, archive });
  const acknowledged: string[] = [];
  let left = random.below(30);
  await keepBusy(journal, random, acknowledged, () => (left -= 1) < 0);
  for (const instance of instances) {
    const id = `waiting-${instance.instanceKey}`;
    await journal.accept(instance, simpleEvent(id));
    acknowledged.push(id);
  }
  const before = [...acknowledged];
  isGated = true;
  let isOver = false;
  let bursts = 8;
  const busy = keepBusy(journal, random, acknowledged, () => isOver);
  const written: string[] = [];
  const fs: BundleFs = gatedFs(simulatedBundleDisk(disk), async (operation, path) => {
    if (!['read', 'look', 'list', 'stat'].includes(operation) && path.startsWith(workspace)) written.push(path);
    // At some moments the owner does a lot, mostly when its log was just copied.
    const isBurst = bursts > 0 && random.chance(path.endsWith('events.jsonl') ? 0.3 : 0.05);
    if (isBurst) bursts -= 1;
    for (let steps = random.below(isBurst ? 200 : 4); steps > 0; steps -= 1) {
      waiting.shift()?.();
      await tick();
    }
  });
  const backup = await backUpOriginal(disk, fs);
  isOver = true;
  isGated = false;
  for (const resume of waiting.splice(0)) resume();
  await busy;
  await journal.close();
  return { disk, before, backup, written };
}

describe('a backup of a workspace whose owner is writing', () => {
  test.each(Array.from({ length: samples(100, 50) }, (_, seed) => seed))(
    'has every input once that was acknowledged before it began (seed %d)',
    async (seed) => {
      const { disk, before, backup, written } = await backUpBusy(seed);
      expect(backup.problems).toEqual([]);
      expect(written).toEqual([]);
      const journal = await openRestored(disk);
      // Reading the history fails if a file of the log is missing or does not fit.
      for (const instance of instances) for await (const turn of journal.archive(instance)) expect(turn).toBeDefined();
      for (const instance of instances) {
        for (const event of await journal.pending(instance)) await runTurn(journal, instance, event.id);
      }
      // The restored conversations continue.
      for (const instance of instances) {
        const id = `next-${instance.instanceKey}`;
        await journal.accept(instance, simpleEvent(id));
        expect(await journal.pending(instance)).toMatchObject([{ id }]);
        await runTurn(journal, instance, id);
      }
      const answered: string[] = [];
      for (const instance of instances) {
        const { messages } = await journal.read(instance);
        answered.push(...messages.flatMap(({ id }) => (id.startsWith('input-') ? [id.slice('input-'.length)] : [])));
      }
      expect(answered.length).toBe(new Set(answered).size);
      expect(answered).toEqual(expect.arrayContaining([...before, 'next-one', 'next-two', 'next-three']));
      await journal.close();
    },
  );
});

test('a conversation that changes during every attempt is an error, and nothing is left of the backup', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openOriginal(disk);
  const [instance] = instances;
  if (!instance) throw new Error('there is no instance');
  await handleTurn(journal, instance, 'e1');
  let number = 1;
  const fs: BundleFs = gatedFs(simulatedBundleDisk(disk), async (operation, path) => {
    // A checkpoint is written between the copies of `metadata.json` and of the log.
    if (operation !== 'read' || !path.startsWith(workspace) || !path.endsWith('events.jsonl')) return;
    for (const last = number + 4; number < last;) {
      number += 1;
      await handleTurn(journal, instance, `e${number}`, { notes: 's'.repeat(70_000 + number) });
    }
  });
  const error = await rejectionOf(backUpOriginal(disk, fs));
  const message = `${workspace}/instances/coder~one changed during each of 20 attempts to copy it`;
  expect(error).toMatchObject({ code: 'E_BACKUP_BUSY', retryable: true, message });
  expect(await disk.list('/backups')).toEqual([]);
  await journal.close();
});
