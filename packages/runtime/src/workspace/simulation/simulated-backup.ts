/** For tests: backs up the busy workspace on a simulated disk, and restores it beside the original. */
import type { AgentAddress, JsonValue } from '@goondan/types';
import type { BundleFs } from '../../ports/bundle-fs.ts';
import { type Backup, backUpWorkspace } from '../backup/back-up-workspace.ts';
import { readManifest, restoreWorkspace } from '../backup/restore-workspace.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { backupFolder, from, limits, runTurn, to } from './busy-workspace.ts';
import { simulatedBundleDisk } from './simulated-bundle-disk.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import { simulatedMachine } from './simulated-machine.ts';
import { simpleEvent } from './simulated-turn.ts';

export const workspace = '/state/workspaces/w';

export function openOriginal(disk: SimulatedDisk, storeLimits = limits): Promise<Journal> {
  return openJournal(simulatedMachine(disk, 0), from, storeLimits);
}

/** Accepts an event and runs its turn. */
export async function handleTurn(
  journal: Journal,
  instance: AgentAddress,
  eventId: string,
  states?: Readonly<Record<string, JsonValue>>,
): Promise<void> {
  await journal.accept(instance, simpleEvent(eventId));
  await runTurn(journal, instance, eventId, states);
}

/** `fs`: the disk, with what the test does between the operations of the backup. */
export function backUpOriginal(disk: SimulatedDisk, fs: BundleFs = simulatedBundleDisk(disk)): Promise<Backup> {
  const source = { ...simulatedMachine(disk, 0), fs, workspace, pause: async () => undefined };
  return backUpWorkspace(source, { folder: backupFolder, version: '1', swarm: 'default' });
}

export async function restoreBackup(disk: SimulatedDisk, fs: BundleFs = simulatedBundleDisk(disk)): Promise<void> {
  await restoreWorkspace(fs, await readManifest(fs, backupFolder), { folder: backupFolder, ...to });
}

/** Restores the backup, and opens the restored workspace. */
export async function openRestored(disk: SimulatedDisk, storeLimits = limits): Promise<Journal> {
  await restoreBackup(disk);
  return openJournal(simulatedMachine(disk, 1), to, storeLimits);
}

export async function messageIds(journal: Journal, instance: AgentAddress): Promise<string[]> {
  return (await journal.read(instance)).messages.map(({ id }) => id);
}
