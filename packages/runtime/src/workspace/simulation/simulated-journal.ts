/** What most tests of a journal on the simulated disk do: open it, handle input, and look at the disk in between. */
import type { AgentAddress } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from './simulated-machine.ts';
import { runSimpleTurn, simpleEvent, type SimpleTurn } from './simulated-turn.ts';

export const coder: AgentAddress = { agentName: 'coder', instanceKey: 'default' };

export function at(instanceKey: string): AgentAddress {
  return { agentName: 'coder', instanceKey };
}

export function idsOf(all: readonly { readonly id: string }[]): string[] {
  return all.map(({ id }) => id);
}

/** Opens a journal in one life of the machine. Processes of earlier lives are dead. */
export function openSimulated(fs: Fs, life = 1, limits: Partial<StoreLimits> = {}): Promise<Journal> {
  return openJournal(simulatedMachine(fs, life), simulatedLocation, { ...defaultLimits, ...limits });
}

/** Opens a journal and its inbox, as the owner of a workspace does. */
export async function openOwner(fs: Fs, life = 1, limits: Partial<StoreLimits> = {}): Promise<Journal> {
  const journal = await openSimulated(fs, life, limits);
  await journal.openInbox();
  return journal;
}

/** Accepts an event and runs its turn. */
export async function handleInput(
  journal: Journal,
  instance: AgentAddress,
  eventId: string,
  turn?: SimpleTurn,
): Promise<void> {
  await journal.accept(instance, simpleEvent(eventId));
  await runSimpleTurn(journal, instance, eventId, turn);
}

/** Runs an action. Returns the disk as it was after each operation of the action. */
export async function momentsOf(disk: SimulatedDisk, action: () => Promise<unknown>): Promise<SimulatedDisk[]> {
  const moments: SimulatedDisk[] = [];
  disk.afterOperation = () => void moments.push(disk.copy());
  await action();
  disk.afterOperation = undefined;
  return moments;
}

export async function bytesOf(disk: Fs, path: string): Promise<Buffer> {
  return Buffer.from((await disk.read(path)) ?? []);
}

/** Replaces a file behind the back of the store. */
export async function overwrite(disk: Fs, path: string, bytes: Uint8Array): Promise<void> {
  await disk.remove(path);
  await disk.createNew(path, bytes);
}
