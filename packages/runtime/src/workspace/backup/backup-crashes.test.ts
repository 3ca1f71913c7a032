// Crashes of a backup and of a restore, at every operation that changes the simulated disk.
import { describe, expect, test } from 'bun:test';
import { openJournal } from '../journal/journal.ts';
import { workspaceFolder } from '../layout/instance-paths.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { putReplacedBack, replacedFolder } from '../layout/restored-workspace.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { backUpOriginal, openOriginal, restoreBackup } from '../simulation/simulated-backup.ts';
import { simulatedBundleDisk } from '../simulation/simulated-bundle-disk.ts';
import { type CrashMode, SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { backupFolder, from, gatedFs, instances, keepBusy, limits, to } from '../simulation/busy-workspace.ts';

const TURNS = 12;

async function diskWithWorkspace(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  const journal = await openOriginal(disk);
  let left = TURNS;
  await keepBusy(journal, seededRandom(1), [], () => (left -= 1) < 0);
  await journal.close();
  return disk;
}

/** Reads all conversations of the restored workspace, with the inputs that wait. */
async function readAll(disk: SimulatedDisk, place: typeof to) {
  const journal = await openJournal(simulatedMachine(disk, 5), place, limits);
  const found = [];
  for (const instance of await journal.instances()) {
    const { messages } = await journal.read(instance);
    const pending = (await journal.pending(instance)).map(({ id }) => id);
    found.push({ ...instance, messages: messages.map(({ id }) => id), pending });
  }
  await journal.close();
  return found.toSorted((one, other) => (one.instanceKey < other.instanceKey ? -1 : 1));
}

/** A crash may keep or lose each change that is not durable, so the end of the work is tried this often. */
const ENDS = 20;

/** Runs the work. Returns the disks that a crash after each operation leaves, and then those of crashes at the end. */
async function crashed(disk: SimulatedDisk, mode: CrashMode, work: () => Promise<unknown>): Promise<SimulatedDisk[]> {
  const random = seededRandom(7);
  const survivors: SimulatedDisk[] = [];
  disk.afterOperation = () => void survivors.push(disk.crash(mode, random));
  await work();
  disk.afterOperation = undefined;
  return [...survivors, ...Array.from({ length: ENDS }, () => disk.crash(mode, random))];
}

describe.each(['kill', 'power'] as const)('a crash (%s)', (mode) => {
  test('of a backup leaves no manifest, or the manifest of a complete backup', async () => {
    const disk = await diskWithWorkspace();
    const wanted = await readAll(disk.copy(), from);
    expect(wanted.map(({ instanceKey }) => instanceKey)).toEqual(instances.map((each) => each.instanceKey).toSorted());
    const survivors = await crashed(disk, mode, () => backUpOriginal(disk));
    let complete = 0;
    for (const [index, survivor] of survivors.entries()) {
      const hasManifest = (await survivor.stat(`${backupFolder}/backup.jsonl`)) !== undefined;
      expect({ index, hasManifest }).toEqual({ index, hasManifest: hasManifest || index >= survivors.length - ENDS });
      if (!hasManifest) continue;
      complete += 1;
      await restoreBackup(survivor);
      expect(await readAll(survivor, to)).toEqual(wanted);
    }
    expect(survivors.length).toBeGreaterThan(100);
    expect(complete).toBeGreaterThan(0);
  });

  test('of a restore leaves no conversations or all of them; the next restore completes', async () => {
    const disk = await diskWithWorkspace();
    const wanted = await readAll(disk.copy(), from);
    await backUpOriginal(disk);
    // The owner of the workspace has made its folder.
    await (await openJournal(simulatedMachine(disk, 2), to, limits)).close();
    const survivors = await crashed(disk, mode, () => restoreBackup(disk));
    let complete = 0;
    for (const [index, survivor] of survivors.entries()) {
      const found = await readAll(survivor.copy(), to);
      if (found.length > 0) {
        complete += 1;
        expect(found).toEqual(wanted);
        continue;
      }
      expect(index).toBeLessThan(survivors.length - ENDS);
      await restoreBackup(survivor);
      expect(await readAll(survivor, to)).toEqual(wanted);
      expect((await survivor.list('/other/workspaces'))?.toSorted()).toEqual([to.workspaceId]);
    }
    expect(survivors.length).toBeGreaterThan(100);
    expect(complete).toBeGreaterThan(0);
  });
});

test('after a power loss, no backup has both its manifest and the mark of an incomplete backup', async () => {
  const disk = await diskWithWorkspace();
  const random = seededRandom(3);
  const survivors: SimulatedDisk[] = [];
  disk.afterOperation = () => void survivors.push(...[1, 2, 3, 4, 5, 6, 7, 8].map(() => disk.crash('power', random)));
  await backUpOriginal(disk);
  const found = new Set<string>();
  for (const survivor of survivors) found.add(((await survivor.list(backupFolder)) ?? []).toSorted().join(' '));
  expect([...found]).toEqual(expect.arrayContaining(['incomplete workspace', 'backup.jsonl workspace']));
  expect([...found].filter((names) => names.includes('incomplete') && names.includes('backup.jsonl '))).toEqual([]);
});

test('a replaced workspace that cannot be removed does not make a complete restore fail', async () => {
  const disk = await diskWithWorkspace();
  const wanted = await readAll(disk.copy(), from);
  await backUpOriginal(disk);
  await (await openJournal(simulatedMachine(disk, 2), to, limits)).close();
  const replaced = replacedFolder(to.stateRoot, to.workspaceId);
  let refusals = 0;
  const fs = gatedFs(simulatedBundleDisk(disk), async (operation, path) => {
    if (operation !== 'removeFolder' || path !== replaced || (await disk.stat(replaced)) === undefined) return;
    refusals += 1;
    throw new Error('not permitted');
  });
  await restoreBackup(disk, fs);
  expect(refusals).toBe(1);
  expect(await readAll(disk, to)).toEqual(wanted);
});

test('a workspace that was put back survives a loss of power', async () => {
  const disk = SimulatedDisk.empty();
  const { stateRoot, workspaceId } = to;
  const folders = [replacedFolder(stateRoot, workspaceId), workspaceFolder(stateRoot, workspaceId)] as const;
  await makeFolders(disk, stateRoot, folders[0]);
  await putReplacedBack(disk, stateRoot, workspaceId);
  for (let seed = 0; seed < 40; seed += 1) {
    const next = disk.crash('power', seededRandom(seed));
    expect(await Promise.all(folders.map(async (each) => (await next.stat(each)) !== undefined))).toEqual([
      false,
      true,
    ]);
  }
});
