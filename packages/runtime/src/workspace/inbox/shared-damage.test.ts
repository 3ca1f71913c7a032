/** Issue 12: a damaged byte of the inbox log that many conversations share concerns at most the conversation it names. */
import { expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import { sampleStep } from '../../../../../test/samples.ts';
import { openJournal } from '../journal/journal.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { defaultLimits } from '../limits.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { openOwner, openSimulated as open, overwrite } from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';

const folder = '/state/workspaces/simulation/inbox';
const path = `${folder}/inbox.000001.jsonl`;
const everybody = Array.from({ length: 20 }, (_, index) => ({ agentName: 'coder', instanceKey: `k${index}` }));

/** The distance of damaged bytes. In `npm test` it shares no factor with 3, 7 and 8, which choose the kind of damage. */
const STEP = sampleStep === 1 ? 1 : Math.max(201, sampleStep);

/** Makes a log of 20 conversations. Some have handled events, cancelled events, and several pending ones. */
async function makeLog(): Promise<{ disk: SimulatedDisk; bytes: Uint8Array }> {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk, 1);
  for (const [index, at] of everybody.entries()) {
    await journal.accept(at, simpleEvent(`first-${index}`));
    if (index % 4 === 0) await runSimpleTurn(journal, at, `first-${index}`);
  }
  await Promise.all(everybody.map((at, index) => journal.accept(at, simpleEvent(`second-${index}`))));
  await journal.cancel({ agentName: 'coder', instanceKey: 'k5' }, 'second-5', 'enough');
  await journal.close();
  return { disk, bytes: (await disk.read(path)) ?? new Uint8Array() };
}

/** Returns the keys of the conversations that do not start. All others must have exactly their input. */
async function concerned(disk: SimulatedDisk, isOwner: boolean): Promise<string[]> {
  const journal = await openOwner(disk, 2);
  const keys: string[] = [];
  for (const [index, at] of everybody.entries()) {
    try {
      const found = (await journal.pending(at)).map(({ id }) => id);
      expect(found).toEqual([...(index % 4 === 0 ? [] : [`first-${index}`]), `second-${index}`]);
      if (isOwner) expect((await journal.accept(at, simpleEvent('next'))).duplicate).toBe(false);
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      keys.push(at.instanceKey);
      if (isOwner) expect(await journal.accept(at, simpleEvent('next')).catch(isCorrupt)).toBe(true);
    }
  }
  await journal.close();
  return keys;
}

/** Returns the key of the conversation whose line has this byte. */
function ownerOf(bytes: Uint8Array, at: number): string | undefined {
  const start = bytes.lastIndexOf(0x0a, at - 1) + 1;
  const stop = bytes.indexOf(0x0a, at);
  const line = new TextDecoder().decode(bytes.subarray(start, stop === -1 ? bytes.length : stop));
  return /"to":\["coder","(k\d+)"\]/.exec(line)?.[1];
}

async function damaged(disk: SimulatedDisk, bytes: Uint8Array): Promise<SimulatedDisk> {
  const copy = disk.copy();
  await overwrite(copy, path, bytes);
  return copy;
}

test('each flipped byte of a shared segment concerns at most the conversation it names; the others answer', async () => {
  const { disk, bytes } = await makeLog();
  expect(await concerned(disk.copy(), true)).toEqual([]);
  let reported = 0;
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
  for (let at = 0; at < bytes.length; at += at < end ? STEP : 97 * STEP) {
    const changed = new Uint8Array(bytes);
    changed[at] = (changed[at] ?? 0) ^ (at % 3 === 0 ? 0xff : 1 << (at % 8));
    const owner = ownerOf(bytes, at);
    const keys = await concerned(await damaged(disk, changed), at % 7 === 0);
    expect(keys.filter((key) => key !== owner)).toEqual([]);
    reported += keys.length;
  }
  // The lines of handled events concern nobody. All others are reported.
  expect(reported).toBeGreaterThan(end / STEP / 2);
}, 120_000);

test('a damaged last line of a conversation is reported, and a deletion makes the conversation usable again', async () => {
  const { disk, bytes } = await makeLog();
  const text = new TextDecoder().decode(bytes);
  const at = text.lastIndexOf('second-7');
  const changed = new Uint8Array(bytes);
  changed[at] = 0x58;
  const broken = await damaged(disk, changed);
  const journal = await open(broken, 2);
  const seven: AgentAddress = { agentName: 'coder', instanceKey: 'k7' };
  expect(await rejectionOf(journal.accept(seven, simpleEvent('next')))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(await journal.has(seven)).toBe(true);
  expect(await broken.read(path)).toEqual(changed);
  await journal.delete(seven, { force: true });
  expect((await journal.accept(seven, simpleEvent('next'))).duplicate).toBe(false);
  await journal.close();
  const again = await open(broken, 3);
  expect((await again.pending(seven)).map(({ id }) => id)).toEqual(['next']);
});

test('a damaged segment that is repaired is read again without a restart', async () => {
  const { disk, bytes } = await makeLog();
  const changed = new Uint8Array(bytes);
  changed[bytes.indexOf(0x0a) - 20] = 0x58;
  const lines = new TextDecoder().decode(bytes).split('\n');
  const offset = lines.slice(0, 4).join('\n').length + 100;
  changed[offset] = 0x7e;
  const broken = await damaged(disk, changed);
  const journal = await open(broken, 2);
  const key = ownerOf(bytes, offset) ?? '';
  const at = { agentName: 'coder', instanceKey: key };
  expect(await rejectionOf(journal.accept(at, simpleEvent('next')))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  await overwrite(broken, path, bytes);
  expect((await journal.accept(at, simpleEvent('next'))).duplicate).toBe(false);
});

/** The limits with which a log of these conversations has several segments, and is compacted by a few further events. */
const short = { ...defaultLimits, inboxCompactionBytes: 4000 };
const busy = { agentName: 'coder', instanceKey: 'busy' };
const some = [...everybody.slice(0, 5), { agentName: 'coder', instanceKey: 'l'.repeat(1024) }];

/** Handles events of another conversation, so that segments fill up. */
async function fill(disk: SimulatedDisk, life: number): Promise<void> {
  const journal = await openJournal(simulatedMachine(disk, life), simulatedLocation, short);
  await journal.openInbox();
  for (let index = 0; index < 15; index += 1) {
    const event = simpleEvent(`busy-${life}-${index}`, { input: 'x'.repeat(500) });
    await journal.accept(busy, event);
    await runSimpleTurn(journal, busy, event.id);
    journal.handled(busy, event.id);
  }
  await journal.close();
}

test('a flipped byte in one of several segments, with long keys, is reported alike after compactions and restarts', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openJournal(simulatedMachine(disk, 1), simulatedLocation, short);
  for (const id of ['first', 'second', 'third']) for (const at of some) await journal.accept(at, simpleEvent(id));
  await journal.close();
  const names = ((await disk.list(folder)) ?? []).toSorted();
  expect(names.filter((name) => name.startsWith('inbox.')).length).toBeGreaterThan(1);
  let reported = 0;
  for (const name of names) {
    const file = `${folder}/${name}`;
    const bytes = (await disk.read(file)) ?? new Uint8Array();
    const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
    for (let at = 0; name.startsWith('inbox.') && at < end; at += 61 * (sampleStep === 1 ? 1 : 65)) {
      const copy = disk.copy();
      const changed = new Uint8Array(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      await overwrite(copy, file, changed);
      let before: string[] | undefined;
      for (const life of [2, 3, 4]) {
        await fill(copy, life);
        const reader = await openJournal(simulatedMachine(copy, life), simulatedLocation, short);
        const keys: string[] = [];
        for (const address of some) {
          const found = await reader.pending(address).catch((error: unknown) => isCorrupt(error) && 'damaged');
          if (found === 'damaged') keys.push(address.instanceKey);
          else expect(found && found.map(({ id }) => id)).toEqual(['first', 'second', 'third']);
        }
        expect(keys.length).toBeLessThan(2);
        expect(keys).toEqual(before ?? keys);
        before = keys;
      }
      reported += before?.length ?? 0;
    }
  }
  expect(reported).toBeGreaterThan(0);
}, 120_000);
