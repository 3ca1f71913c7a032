// The input of a deleted instance leaves the inbox log, which all instances share.
import { expect, test } from 'bun:test';
import { samples } from '../../../../../test/samples.ts';
import type { Fs } from '../../ports/fs.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { defaultLimits } from '../limits.ts';
import { gatedFs } from '../simulation/busy-workspace.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { bytesOf, momentsOf, openOwner, openSimulated as open } from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';
import { openJournal } from './journal.ts';

const deleted = { agentName: 'coder', instanceKey: 'private-key' };
const other = { agentName: 'coder', instanceKey: 'other' };
const inbox = '/state/workspaces/simulation/inbox';
const words = 'private words';

/** Handles one input, and leaves one to each instance. */
async function talk(disk: SimulatedDisk): Promise<void> {
  const journal = await open(disk);
  for (const id of ['a', 'b']) await journal.accept(deleted, simpleEvent(id, { input: words }));
  for (const id of ['c', 'd']) await journal.accept(other, simpleEvent(id));
  await runSimpleTurn(journal, deleted, 'a');
  await runSimpleTurn(journal, other, 'c');
  await journal.close();
}

async function inboxText(fs: Fs): Promise<string> {
  const names = ((await fs.list(inbox)) ?? []).filter((name) => !name.includes('.corrupt-'));
  const files = await Promise.all(names.map((name) => fs.read(`${inbox}/${name}`)));
  return files.map((bytes) => Buffer.from(bytes ?? []).toString()).join('');
}

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);

test('neither the input nor the key of a deleted instance is left, and the input of others is', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  expect((await inboxText(disk)).includes(words)).toBe(true);
  const journal = await open(disk, 2);
  await journal.delete(deleted, { force: true });
  expect((await inboxText(disk)).includes(words)).toBe(false);
  expect((await inboxText(disk)).includes('private-key')).toBe(false);
  expect(idsOf(await journal.pending(other))).toEqual(['d']);
  await journal.accept(deleted, simpleEvent('again'));
  await journal.close();
  const next = await openOwner(disk, 3);
  expect(idsOf(await next.pending(deleted))).toEqual(['again']);
  expect(idsOf(await next.pending(other))).toEqual(['d']);
});

test('the same holds for an instance that has only input', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await journal.accept(deleted, simpleEvent('a', { input: words }));
  await journal.delete(deleted, { force: true });
  expect((await inboxText(disk)).includes(words)).toBe(false);
});

test('after a crash, the next start removes the input of a deleted instance, and no other', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  const moments = await momentsOf(disk, () => journal.delete(deleted, { force: true }));
  const outcomes = new Set<boolean>();
  for (const [index, moment] of moments.entries()) {
    for (const mode of ['kill', 'power'] as const) {
      for (let seed = 0; seed < samples(5); seed += 1) {
        const crashed = moment.crash(mode, seededRandom(index * 100 + seed));
        const next = await openOwner(crashed, 3);
        await next.sweep();
        const isThere = await next.has(deleted);
        expect((await inboxText(crashed)).includes(words)).toBe(isThere);
        expect(idsOf(await next.pending(other))).toEqual(['d']);
        expect(idsOf(await next.pending(deleted))).toEqual(isThere ? ['b'] : []);
        outcomes.add(isThere);
        await next.close();
      }
    }
  }
  expect(outcomes).toEqual(new Set([true, false]));
});

test('an instance is deleted even if its input cannot be removed yet, and the next use removes it', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  let isFull = false;
  const fs = gatedFs(
    failingFs(disk, () => undefined),
    async (_, path) => {
      if (isFull && path.startsWith(`${inbox}/inbox.000002`)) throw systemError('ENOSPC');
    },
  );
  const warnings: string[] = [];
  const machine = {
    ...simulatedMachine(fs, 2),
    warn: ({ message }: { readonly message: string }) => warnings.push(message),
  };
  const journal = await openJournal(machine, simulatedLocation, defaultLimits);
  isFull = true;
  await journal.delete(deleted, { force: true });
  expect(await journal.has(deleted).catch(() => false)).toBe(false);
  expect(warnings.join()).toContain('input of a deleted instance');
  isFull = false;
  expect(await journal.accept(other, simpleEvent('e'))).toMatchObject({ duplicate: false });
  expect((await inboxText(disk)).includes(words)).toBe(false);
  expect(idsOf(await journal.pending(other))).toEqual(['d', 'e']);
});

test('while a file of the inbox is damaged, its input stays, and the first use after the repair removes it', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const path = `${inbox}/inbox.000001.jsonl`;
  const whole = await bytesOf(disk, path);
  const damaged = Buffer.from(whole);
  damaged[whole.indexOf('input of d')] = 0x78;
  await replaceFile(disk, path, damaged);
  const warnings: string[] = [];
  const machine = simulatedMachine(disk, 2);
  const warn = ({ message }: { readonly message: string }) => void warnings.push(message);
  const journal = await openJournal({ ...machine, warn }, simulatedLocation, defaultLimits);
  await journal.delete(deleted, { force: true });
  expect(await journal.has(deleted)).toBe(false);
  expect(warnings.join()).toContain('has input of a deleted instance until its damaged files are repaired');
  expect(await rejectionOf(journal.pending(other))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect((await inboxText(disk)).includes(words)).toBe(true);

  // A person repairs the file. The copies that were kept aside are theirs to delete.
  await replaceFile(disk, path, whole);
  expect(idsOf(await journal.pending(other))).toEqual(['d']);
  expect((await inboxText(disk)).includes(words)).toBe(false);
});

test('two deletions at the same time remove the input of both', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  await Promise.all([journal.delete(deleted, { force: true }), journal.delete(other, { force: true })]);
  const text = await inboxText(disk);
  expect([text.includes(words), text.includes('input of d')]).toEqual([false, false]);
});
