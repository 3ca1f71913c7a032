import { expect, test } from 'bun:test';
import { sampleStep } from '../../../../../test/samples.ts';
import type { Fs } from '../../ports/fs.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { defaultLimits } from '../limits.ts';
import { failingFs } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { bytesOf, coder, idsOf as ids, overwrite } from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn } from '../simulation/simulated-turn.ts';
import { blame } from './blame.ts';
import { readConversationAt } from './read-conversation-at.ts';
import { readHistory } from './read-history.ts';

const messages = '/state/workspaces/simulation/instances/coder~default/messages';
const limits = { ...defaultLimits, archive: { bytes: 1500, files: 1 } };
const open = (fs: Fs, life = 1) => openJournal(simulatedMachine(fs, life), simulatedLocation, limits);
/** Returns the message ids up to this event number. The turns e0, e1, … have two events each. */
const idsUpTo = (seq: number) =>
  Array.from({ length: seq }, (_, index) => `${index % 2 === 0 ? 'input' : 'answer'}-e${Math.floor(index / 2)}`);

/**
 * Checks that every number still means the same event, and that the conversation can be read at the first and at the
 * last number.
 */
async function checkNumbers(journal: Journal): Promise<{ readonly first: number; readonly last: number }> {
  const { first, last, turns } = await readHistory(journal, coder, { limit: 1000 });
  const events = turns.flatMap((turn) => turn.events);
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: last - first + 1 }, (_, index) => first + index));
  expect(events.flatMap(({ event }) => ('message' in event ? [event.message.id] : []))).toEqual(
    idsUpTo(last).slice(first - 1),
  );
  for (const seq of [first - 1, last])
    expect(ids((await readConversationAt(journal, coder, seq)).messages)).toEqual(idsUpTo(seq));
  return { first, last };
}

test('a deleted turn is in the start of the history first, at any crash point', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  for (let turn = 0; turn < 6; turn += 1) await runSimpleTurn(journal, coder, `e${turn}`);
  const moments: { readonly disk: SimulatedDisk; readonly committed: number }[] = [];
  let committed = 6;
  disk.afterOperation = () => moments.push({ disk: disk.copy(), committed });
  for (; committed < 10; committed += 1) await runSimpleTurn(journal, coder, `e${committed}`);
  disk.afterOperation = undefined;

  const firsts = new Set<number>();
  for (const [index, moment] of moments.entries()) {
    if (index % sampleStep !== 0) continue;
    for (const mode of ['kill', 'power'] as const) {
      const survivor = moment.disk.crash(mode, seededRandom(index, mode.length));
      const seen = await checkNumbers(await open(survivor.copy(), 2));
      expect(seen.last).toBeGreaterThanOrEqual(moment.committed * 2);
      firsts.add(seen.first);
      const next = await open(survivor, 2);
      await next.recover(coder);
      expect(await checkNumbers(next)).toEqual(seen);
      // Abandons the interrupted turn by opening another one.
      await next.open(coder, 'turn-other');
      for (let turn = seen.last / 2; turn < 14; turn += 1) await runSimpleTurn(next, coder, `e${turn}`);
      expect((await checkNumbers(next)).last).toBe(28);
    }
  }
  expect(firsts.size).toBeGreaterThan(1);
}, 60_000);

test('the history and the conversation are the same at every operation of the owner, with the states', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await runSimpleTurn(journal, coder, 'e0', { extensionState: { memo: 0, other: 'x' } });
  const moments: SimulatedDisk[] = [];
  disk.afterOperation = () => moments.push(disk.copy());
  await runSimpleTurn(journal, coder, 'e1', { extensionState: { memo: 1 } });
  await journal.close();
  await journal.reset(coder);
  disk.afterOperation = undefined;
  let behind = 0;
  for (const moment of moments) {
    const reader = await open(moment, 1);
    const { version, messages: committed, extensionState } = await reader.read(coder);
    expect(await readConversationAt(reader, coder)).toMatchObject({ messages: committed, extensionState });
    expect(await Array.fromAsync(reader.archive(coder))).toHaveLength(version);
    const metadata = Buffer.from((await moment.read(messages.replace(/messages$/, 'metadata.json'))) ?? '').toString();
    behind += metadata.includes(`"version":${version},`) ? 0 : 1;
  }
  expect(behind).toBeGreaterThan(1);
});

test('keeps a damaged oldest file, with a warning', async () => {
  const disk = SimulatedDisk.empty();
  const machine = simulatedMachine(disk, 1);
  const journal = await openJournal(machine, simulatedLocation, limits);
  let turn = 0;
  const archives = async () => ((await disk.list(messages)) ?? []).filter((name) => /^events\.\d+\.jsonl$/.test(name));
  while ((await archives()).length === 0) await runSimpleTurn(journal, coder, `e${turn++}`);
  const file = await disk.openFile(`${messages}/events.000001.jsonl`);
  await file.truncate(300);
  await file.append(Buffer.from('{"broken":true}\n{"also":1}\n'));
  for (let more = 0; more < 10; more += 1) await runSimpleTurn(journal, coder, `e${turn++}`);
  expect(await archives()).toContain('events.000001.jsonl');
  expect(machine.warnings.map(({ message }) => message).join()).toContain('not deleted, although the archive is full');
  expect(await rejectionOf(readHistory(journal, coder))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(ids((await journal.read(coder)).messages)).toEqual(idsUpTo(turn * 2));
});

test('a history whose start was deleted by hand is an error, not another history', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  for (let turn = 0; turn < 12; turn += 1) await runSimpleTurn(journal, coder, `e${turn}`);
  await disk.remove(`${messages}/history-start.jsonl`);
  expect(await rejectionOf(blame(journal, coder))).toMatchObject({
    code: 'E_STORE_CORRUPT',
    message: expect.stringContaining('its first turns are missing'),
  });
});

test('every reader reports an archive that lost any of its last lines or its first turn', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openJournal(simulatedMachine(disk, 1), simulatedLocation);
  for (let turn = 0; turn < 3; turn += 1) await runSimpleTurn(journal, coder, `e${turn}`);
  await journal.close();
  const path = `${messages}/events.jsonl`;
  const bytes = await bytesOf(disk, path);
  const ends = [...bytes.keys()].filter((at) => bytes[at] === 0x0a).map((at) => at + 1);
  const shortened = [0, ...ends.slice(0, -1)].flatMap((end) => [bytes.subarray(0, end), bytes.subarray(0, end + 9)]);
  for (const left of [...shortened, Buffer.alloc(bytes.length), bytes.subarray(ends[2])]) {
    const copy = disk.copy();
    await overwrite(copy, path, left);
    const reader = await openJournal(simulatedMachine(copy, 2), simulatedLocation);
    const corrupt = { code: 'E_STORE_CORRUPT' };
    expect(await rejectionOf(readHistory(reader, coder))).toMatchObject(corrupt);
    expect(await rejectionOf(blame(reader, coder))).toMatchObject(corrupt);
    expect(await rejectionOf(Array.fromAsync(reader.archive(coder)))).toMatchObject(corrupt);
    // The base still contains all messages. The fork also reports that the history is damaged.
    const problems = [expect.stringMatching(/^E_STORE_CORRUPT: .*events/)];
    expect(await reader.fork(coder, { as: 'copy' })).toEqual({ messages: 6, unknownStates: [], problems });
    for (const instance of [coder, { ...coder, instanceKey: 'copy' }])
      expect((await reader.read(instance)).messages).toHaveLength(6);
  }
});

test('reading the archive while its owner commits turns is not an error', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openJournal(simulatedMachine(disk, 1), simulatedLocation);
  let turn = 0;
  let isCommitting = false;
  const commitOne = async () => runSimpleTurn(journal, coder, `e${turn++}`);
  for (let before = 0; before < 4; before += 1) await commitOne();
  const machine = simulatedMachine(
    failingFs(disk, () => undefined),
    1,
  );
  /** Each read first commits another turn. */
  const read: Fs['read'] = async (...range) => {
    if (!isCommitting && turn < 40) {
      isCommitting = true;
      await commitOne();
      isCommitting = false;
    }
    return disk.read(...range);
  };
  const reader = await openJournal({ ...machine, fs: { ...machine.fs, read } }, simulatedLocation);
  const { first, last, turns } = await readHistory(reader, coder, { limit: 1000 });
  expect([first, last >= 8, turns.length]).toEqual([1, true, last / 2]);
  expect(turn).toBeGreaterThan(6);
});

test('a missing commit record is an error, not a shorter or empty history', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  for (let turn = 0; turn < 2; turn += 1) await runSimpleTurn(journal, coder, `e${turn}`);
  await journal.close();
  await disk.remove(messages.replace(/messages$/, 'metadata.json'));
  const reader = await open(disk, 2);
  expect(await rejectionOf(readHistory(reader, coder))).toMatchObject({
    code: 'E_STORE_CORRUPT',
    message: expect.stringContaining('it is missing'),
  });
});

test('an instance without events, or no instance, has an empty history', async () => {
  const journal = await open(SimulatedDisk.empty());
  expect(await readHistory(journal, coder)).toEqual({ first: 1, last: 0, turns: [] });
  expect(await readConversationAt(journal, coder, 0)).toMatchObject({ seq: 0, messages: [] });
  expect(await rejectionOf(readConversationAt(journal, coder, 1))).toMatchObject({
    code: 'E_HISTORY_RANGE',
    message: 'There is no event 1: nothing has happened in this conversation yet.',
  });
});

test('a conversation that was deleted and started again has its own history', async () => {
  const journal = await open(SimulatedDisk.empty());
  for (let turn = 0; turn < 8; turn += 1) await runSimpleTurn(journal, coder, `e${turn}`);
  await journal.delete(coder);
  await runSimpleTurn(journal, coder, 'e0');
  expect(await checkNumbers(journal)).toEqual({ first: 1, last: 2 });
});

test('a state too long for the archive is unknown at every moment, without other effects', async () => {
  const journal = await openJournal(simulatedMachine(SimulatedDisk.empty(), 1), simulatedLocation);
  const long = 'x'.repeat(70_000);
  await runSimpleTurn(journal, coder, 'e0', { extensionState: { memo: 'short', other: 1 } });
  await runSimpleTurn(journal, coder, 'e1', { extensionState: { memo: long, other: 1 } });
  await runSimpleTurn(journal, coder, 'e2', { extensionState: { memo: 'again', other: 2 } });
  await runSimpleTurn(journal, coder, 'e3', { extensionState: { other: 2 } });
  const at = async (seq: number) => {
    const { extensionState, unknownStates } = await readConversationAt(journal, coder, seq);
    return [extensionState, unknownStates];
  };
  expect(await at(2)).toEqual([{ memo: 'short', other: 1 }, []]);
  expect(await at(3)).toEqual([{ memo: 'short', other: 1 }, []]);
  expect(await at(4)).toEqual([{ other: 1 }, ['memo']]);
  expect(await at(6)).toEqual([{ memo: 'again', other: 2 }, []]);
  expect(await at(8)).toEqual([{ other: 2 }, []]);
});
