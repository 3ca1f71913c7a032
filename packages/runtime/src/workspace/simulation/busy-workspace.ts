/** For tests: a workspace on a simulated disk whose owner writes while it is backed up. */
import type { AgentAddress, JsonValue } from '@goondan/types';
import type { BundleFs } from '../../ports/bundle-fs.ts';
import type { Fs } from '../../ports/fs.ts';
import type { Journal } from '../journal/journal.ts';
import { messagesOf, simpleEvent, simpleRecords } from './simulated-turn.ts';
import type { Random } from './seeded-random.ts';
import { simulatedLimits } from './simulated-machine.ts';

export const from = { stateRoot: '/state', workspaceId: 'w' };
export const to = { stateRoot: '/other', workspaceId: 'x' };
export const backupFolder = '/backups/one';
export const limits = { ...simulatedLimits, archive: { bytes: 3000, files: 2 } };

export const instances: readonly AgentAddress[] = ['one', 'two', 'three'].map((instanceKey) => {
  return { agentName: 'coder', instanceKey };
});

/** Opens a turn and appends its first record. */
export async function beginTurn(journal: Journal, instance: AgentAddress, eventId: string): Promise<void> {
  const { epoch } = await journal.open(instance, `turn-${eventId}`, await entryOf(journal, instance, eventId));
  await journal.append(instance, epoch, 0, simpleRecords(eventId).slice(0, 1));
}

/** Runs one turn, or continues it, with one append for each record. `between` runs after each append. */
export async function runTurn(
  journal: Journal,
  instance: AgentAddress,
  eventId: string,
  states: Readonly<Record<string, JsonValue>> = {},
  between: () => Promise<void> = async () => undefined,
): Promise<void> {
  const turnId = `turn-${eventId}`;
  const opened = await journal.open(instance, turnId, await entryOf(journal, instance, eventId));
  if (opened.finished) return;
  const records = simpleRecords(eventId);
  for (let at = opened.log.length; at < records.length; at += 1) {
    await journal.append(instance, opened.epoch, at, records.slice(at, at + 1));
    await between();
  }
  const messages = messagesOf(records);
  const result = { turnId, finishReason: 'text_response' } as const;
  await journal.commit(instance, opened.epoch, turnId, { type: 'append', messages }, states, result);
}

/**
 * Accepts inputs and runs their turns until `isOver` returns true. Adds the ids of acknowledged inputs. Answers are added
 * between turns, and fetched during turns, so a commit without a turn may lie behind the records of an open turn.
 */
export async function keepBusy(
  journal: Journal,
  random: Random,
  acknowledged: string[],
  isOver: () => boolean,
): Promise<void> {
  for (let number = acknowledged.length + 1; !isOver(); number += 1) {
    const instance = instances[random.below(instances.length)] ?? instances[0];
    if (!instance) return;
    const id = `e${number}`;
    await journal.accept(instance, simpleEvent(id));
    acknowledged.push(id);
    if (random.chance(0.3)) continue;
    // A state of this length is in a file of its own, and not in the log.
    const state = 's'.repeat(random.chance(0.3) ? 66_000 + number : number);
    if (random.chance(0.5)) await journal.outbox.add(instance, `answer-${number}`, { number });
    const fetchAnswer = async () => {
      const [answer] = random.chance(0.5) ? await journal.outbox.pending(instance) : [];
      if (answer) await journal.outbox.acknowledge(instance, answer.key);
    };
    for (const event of await journal.pending(instance))
      await runTurn(journal, instance, event.id, { notes: state }, fetchAnswer);
  }
}

/** Returns a disk that waits for `gate` before each operation. */
export function gatedFs<Disk extends Fs | BundleFs>(
  disk: Disk,
  gate: (operation: string, path: string) => Promise<void>,
): Disk {
  // Safe: each method is replaced by one with the same result.
  return gated(disk, gate) as Disk;
}

function gated(target: object, gate: (operation: string, path: string) => Promise<void>): object {
  const methods = Object.entries(target).map(([name, method]) => {
    return [
      name,
      async (...args: unknown[]) => {
        await gate(name, String(args[0]));
        const result: unknown = await (method as (...given: unknown[]) => unknown)(...args);
        return (name === 'openFile' || name === 'openRoom') && result ? gated(result, gate) : result;
      },
    ];
  });
  return Object.fromEntries(methods) as object;
}

/** Returns the event with its number, which the orchestrator tells the process. */
async function entryOf(journal: Journal, instance: AgentAddress, eventId: string) {
  return (await journal.pendingEntries(instance)).find(({ event }) => event.id === eventId);
}
