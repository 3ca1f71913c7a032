/** The log of a conversation says which input it has begun and handled, so a removed or cut inbox log is not silent. */
import { describe, expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import type { Journal } from '../journal/journal.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import {
  at,
  bytesOf,
  handleInput,
  idsOf as ids,
  openOwner,
  openSimulated as open,
  overwrite,
} from '../simulation/simulated-journal.ts';
import { runSimpleTurn, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';

const folder = '/state/workspaces/simulation/inbox';
const segment = `${folder}/inbox.000001.jsonl`;

/** Begins the turn of an event, and does not end it. */
async function interruptTurn(journal: Journal, address: AgentAddress, eventId: string): Promise<void> {
  const entry = (await journal.pendingEntries(address)).find(({ event }) => event.id === eventId);
  const { epoch } = await journal.open(address, `turn-${eventId}`, entry);
  await journal.append(address, epoch, 0, simpleRecords(eventId).slice(0, 1));
}

/** `first`: its first turn is interrupted. `second`: its second one is. `done`: handled. `forked`: never had input. */
async function makeInterrupted(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk, 1);
  for (const key of ['done', 'second']) await handleInput(journal, at(key), `${key}-1`);
  await journal.fork(at('done'), { as: 'forked' });
  for (const [key, id] of [
    ['second', 'second-2'],
    ['first', 'first-1'],
  ] as const) {
    await journal.accept(at(key), simpleEvent(id));
    await interruptTurn(journal, at(key), id);
  }
  // A killed process leaves no checkpoint of a first turn.
  expect(await disk.stat('/state/workspaces/simulation/instances/coder~first/metadata.json')).toBeUndefined();
  return disk;
}

const remove = {
  'the folder': async (disk: SimulatedDisk) => {
    for (const name of (await disk.list(folder)) ?? []) await disk.remove(`${folder}/${name}`);
    await disk.removeFolder(folder);
  },
  'the only segment': (disk: SimulatedDisk) => disk.remove(segment),
};

/** Replaces the lines of the segment from the first one with this text on by zeros. */
async function zeroFrom(disk: SimulatedDisk, text: string): Promise<void> {
  const bytes = await bytesOf(disk, segment);
  bytes.fill(0, bytes.lastIndexOf(0x0a, bytes.indexOf(text)) + 1);
  await overwrite(disk, segment, bytes);
}

const missing = (line: number) => ({
  code: 'E_STORE_CORRUPT',
  message: expect.stringMatching(
    new RegExp(`^${folder} is damaged: line ${line} of this instance is missing, and no file of the folder has it \\(`),
  ),
});
const giveUp = { suggestion: expect.stringContaining('gdn instance delete --force') };

describe.each(Object.entries(remove))('an inbox log of which %s was removed', (_, removeIt) => {
  test('is reported by each conversation that has used it, over restarts, resets and compactions; the others answer', async () => {
    const disk = await makeInterrupted();
    await removeIt(disk);
    for (const life of [2, 3, 4]) {
      const journal = await openOwner(disk, life, { inboxCompactionBytes: 600 });
      for (const [key, line] of [
        ['first', 1],
        ['second', 2],
        ['done', 2],
      ] as const) {
        expect(await journal.instances()).toContainEqual(at(key));
        expect(await rejectionOf(journal.pending(at(key)))).toMatchObject({ ...missing(line), ...giveUp });
        expect(await rejectionOf(journal.accept(at(key), simpleEvent('next')))).toMatchObject(missing(line));
      }
      for (const key of ['forked', 'new']) {
        for (let index = 0; index < 10; index += 1) {
          expect(await journal.accept(at(key), simpleEvent(`${life}-${index}`))).toMatchObject({ duplicate: false });
          await runSimpleTurn(journal, at(key), `${life}-${index}`);
        }
      }
      // A reset forgets the interrupted turn, but not its input.
      await journal.reset(at('first'));
      await journal.close();
    }
    const journal = await open(disk, 5);
    await journal.delete(at('first'), { force: true });
    expect(await journal.accept(at('first'), simpleEvent('next'))).toMatchObject({ duplicate: false });
  });

  test('is reported to a process that only reads', async () => {
    const disk = await makeInterrupted();
    await removeIt(disk);
    const reader = await open(disk, 2);
    for (const key of ['first', 'second', 'done'])
      expect(await rejectionOf(reader.pending(at(key)))).toMatchObject({
        code: 'E_STORE_CORRUPT',
        message: expect.stringContaining(`${folder} is damaged`),
      });
    expect(await reader.pending(at('forked'))).toEqual([]);
  });
});

describe('an inbox log whose newest segment was removed', () => {
  const short = { inboxCompactionBytes: 1200 };
  const accepted = ['a1', 'a2', 'a3', 'a4', 'a5'];

  /** Makes a log of two segments. Returns the path of the newest one. */
  async function makeSegments() {
    const disk = SimulatedDisk.empty();
    const journal = await open(disk, 1, short);
    for (const id of accepted) await journal.accept(at('a'), simpleEvent(id));
    await journal.close();
    const names = ((await disk.list(folder)) ?? []).filter((name) => name.startsWith('inbox.')).toSorted();
    expect(names).toHaveLength(2);
    return { disk, newest: `${folder}/${names[1]}` };
  }

  test('accepts nothing, over restarts, until the file is restored', async () => {
    const { disk, newest } = await makeSegments();
    const bytes = (await disk.read(newest)) ?? new Uint8Array();
    await disk.remove(newest);
    const refused = { code: 'E_STORE_CORRUPT', message: expect.stringContaining('is missing') };
    expect(await rejectionOf((await open(disk, 2, short)).pending(at('a')))).toMatchObject(refused);
    for (const life of [2, 3, 4]) {
      const journal = await openOwner(disk, life, short);
      expect(await rejectionOf(journal.pending(at('a')))).toMatchObject(refused);
      expect(await rejectionOf(journal.accept(at('b'), simpleEvent('b1')))).toMatchObject(refused);
      await journal.close();
    }
    for (const name of (await disk.list(folder)) ?? [])
      if (/^inbox\.00000[2-9]\.jsonl$/.test(name)) await disk.remove(`${folder}/${name}`);
    await disk.createNew(newest, bytes);
    const journal = await open(disk, 5, short);
    expect(ids(await journal.pending(at('a')))).toEqual(accepted);
    expect(await journal.accept(at('b'), simpleEvent('b1'))).toMatchObject({ duplicate: false });
  });

  test('has all input again when the file comes back, even if swarms have started meanwhile', async () => {
    const { disk, newest } = await makeSegments();
    const bytes = (await disk.read(newest)) ?? new Uint8Array();
    await disk.remove(newest);
    for (const life of [2, 3]) {
      const without = await openOwner(disk, life, short);
      await without.close();
    }
    await disk.createNew(newest, bytes);
    const journal = await openOwner(disk, 4, short);
    expect(ids(await journal.pending(at('a')))).toEqual(accepted);
  });

  test('does not skip the file silently when it comes back after somebody has given up input', async () => {
    const { disk, newest } = await makeSegments();
    const bytes = (await disk.read(newest)) ?? new Uint8Array();
    await disk.remove(newest);
    const without = await openOwner(disk, 2, short);
    await without.delete(at('a'), { force: true });
    await without.accept(at('a'), simpleEvent('a6'));
    await without.close();
    await disk.createNew(newest, bytes);
    const journal = await openOwner(disk, 3, short);
    const refused = { code: 'E_STORE_CORRUPT', message: expect.stringContaining(`${newest} is damaged`) };
    expect(await rejectionOf(journal.accept(at('b'), simpleEvent('b1')))).toMatchObject(refused);
    expect(ids(await journal.pending(at('a')))).toEqual(['a6']);
  });

  test('accepts input again when a person gives up the file with zeros behind the one before it', async () => {
    const { disk, newest } = await makeSegments();
    await disk.remove(newest);
    const bytes = (await disk.read(segment)) ?? new Uint8Array();
    await overwrite(disk, segment, Buffer.concat([bytes, new Uint8Array(4096)]));
    const journal = await openOwner(disk, 2, short);
    const left = ids(await journal.pending(at('a')));
    expect(left).toEqual(accepted.slice(0, left.length));
    expect(await journal.accept(at('b'), simpleEvent('b1'))).toMatchObject({ duplicate: false });
  });
});

describe('an inbox log whose last lines became zeros', () => {
  test('is reported by the conversation that has begun one of them, also after a reset; the others answer', async () => {
    const disk = await makeInterrupted();
    await zeroFrom(disk, 'input of first-1');
    expect(await rejectionOf((await open(disk, 2)).pending(at('first')))).toMatchObject(missing(1));
    for (const life of [3, 4, 5]) {
      const journal = await openOwner(disk, life);
      expect(await rejectionOf(journal.accept(at('first'), simpleEvent('next')))).toMatchObject({
        code: 'E_STORE_CORRUPT',
        message: expect.stringContaining('is damaged: line 1 of this instance is missing'),
      });
      expect(ids(await journal.pending(at('second')))).toEqual(['second-2']);
      expect(await journal.accept(at('done'), simpleEvent(`${life}`))).toMatchObject({ duplicate: false });
      await journal.reset(at('first'));
      await journal.close();
    }
  });

  test('gives no number twice: the log of a conversation knows the numbers that were handled', async () => {
    const disk = SimulatedDisk.empty();
    const first = await open(disk, 1);
    for (const id of ['a1', 'a2']) await handleInput(first, at('a'), id);
    await zeroFrom(disk, 'input of a2');
    const journal = await open(disk, 2);
    expect(await journal.accept(at('a'), simpleEvent('a3'))).toMatchObject({ duplicate: false, seq: 3 });
    await runSimpleTurn(journal, at('a'), 'a3');
    expect(await (await open(disk, 3)).pending(at('a'))).toEqual([]);
  });
});

describe('a segment of the inbox log that lost its head', () => {
  const short = { inboxCompactionBytes: 1200 };
  const keys = ['a', 'b', 'c'];
  const damages: Readonly<Record<string, (bytes: Buffer, other: Buffer) => Buffer>> = {
    'has no bytes': () => Buffer.alloc(0),
    'is cut in its first line': (bytes) => bytes.subarray(0, 60),
    'begins with zeros': (bytes) => Buffer.concat([Buffer.alloc(512), bytes.subarray(512)]),
    'is all zeros': (bytes) => Buffer.alloc(bytes.length),
    'has two damaged lines at its start': (bytes) => {
      const changed = Buffer.from(bytes);
      for (const place of [30, bytes.indexOf(0x0a) + 30]) changed[place] = (changed[place] ?? 0) ^ 1;
      return changed;
    },
    'was overwritten by another segment': (_, other) => other,
  };
  const rows = Object.keys(damages).flatMap((name) => [1, 2].map((index) => [name, index] as const));

  test.each(rows)(
    'and %s is reported, and has its input again when it is restored: segment %i',
    async (name, index) => {
      const disk = SimulatedDisk.empty();
      const first = await open(disk, 1, short);
      const accepted = new Map(keys.map((key) => [key, [1, 2, 3, 4].map((number) => `${key}${number}`)]));
      for (let number = 0; number < 4; number += 1)
        for (const key of keys) await first.accept(at(key), simpleEvent(accepted.get(key)?.[number] ?? ''));
      await first.close();
      const names = ((await disk.list(folder)) ?? []).filter((each) => each.startsWith('inbox.')).toSorted();
      const path = `${folder}/${names.at(index === 1 ? 1 : -1)}`;
      const whole = await bytesOf(disk, path);
      const other = await bytesOf(disk, segment);
      await overwrite(disk, path, damages[name]?.(whole, other) ?? whole);
      for (const life of [2, 3]) {
        const journal = await openOwner(disk, life, short);
        for (const key of keys) {
          const refused = { code: 'E_STORE_CORRUPT', message: expect.stringContaining(path) };
          expect(await rejectionOf(journal.pending(at(key)))).toMatchObject(refused);
          expect(await rejectionOf(journal.accept(at(key), simpleEvent('next')))).toMatchObject(refused);
        }
        await journal.close();
      }
      await overwrite(disk, path, whole);
      const journal = await openOwner(disk, 4, short);
      for (const key of keys) expect(ids(await journal.pending(at(key)))).toEqual(accepted.get(key) ?? []);
      expect(await journal.accept(at('a'), simpleEvent('next'))).toMatchObject({ duplicate: false, seq: 5 });
    },
  );
});

test('a conversation that was deleted after a segment lost its head keeps its new input', async () => {
  const disk = SimulatedDisk.empty();
  const first = await open(disk, 1, { inboxCompactionBytes: 1200 });
  for (let number = 1; number <= 12; number += 1) await first.accept(at('a'), simpleEvent(`a${number}`));
  await first.close();
  const path = `${folder}/inbox.000002.jsonl`;
  await overwrite(disk, path, Buffer.alloc(0));
  const second = await openOwner(disk, 2);
  await second.delete(at('a'), { force: true });
  await second.accept(at('a'), simpleEvent('new'));
  await second.close();
  const third = await openOwner(disk, 3);
  expect(ids(await third.pending(at('a')))).toEqual(['new']);
});

test('a newest segment that was cut has all its input again when it is restored, after starts with the cut file', async () => {
  const disk = SimulatedDisk.empty();
  const first = await open(disk, 1);
  for (const id of ['a1', 'a2', 'a3']) await first.accept(at('a'), simpleEvent(id));
  await first.close();
  const whole = await bytesOf(disk, segment);
  await overwrite(disk, segment, whole.subarray(0, whole.indexOf('input of a2')));
  for (const life of [2, 3]) {
    const journal = await openOwner(disk, life);
    expect(await rejectionOf(journal.accept(at('b'), simpleEvent('b1')))).toMatchObject({ code: 'E_STORE_CORRUPT' });
    await journal.close();
  }
  await overwrite(disk, segment, whole);
  expect(ids(await (await open(disk, 4)).pending(at('a')))).toEqual(['a1', 'a2', 'a3']);
});

test('input is not acknowledged into a file that was removed while it was in use', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk, 1);
  await journal.accept(at('a'), simpleEvent('a1'));
  await disk.remove(segment);
  const refused = {
    code: 'E_STORE_WRITE',
    message: `${segment} was removed while it was in use.`,
    suggestion: expect.stringContaining('restore the file'),
  };
  expect(await rejectionOf(journal.accept(at('b'), simpleEvent('b1')))).toMatchObject(refused);
  expect(await journal.accept(at('b'), simpleEvent('b1'))).toMatchObject({ duplicate: false });
  expect(ids(await (await open(disk, 2)).pending(at('b')))).toEqual(['b1']);
});
