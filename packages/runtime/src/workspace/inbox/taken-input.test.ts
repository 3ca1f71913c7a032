/** Input that a running turn took is handled, and the input before it is not. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import type { Journal } from '../journal/journal.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import {
  at,
  coder,
  handleInput,
  idsOf as ids,
  openOwner,
  openSimulated as open,
} from '../simulation/simulated-journal.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';
import { runSteeredTurn } from '../simulation/steered-turn.ts';
import { InstanceInbox } from './instance-inbox.ts';

/** Accepts the events `s`, `a` and `n`, and runs the turn of `s`, which takes `n`. */
async function overtake(journal: Journal): Promise<void> {
  for (const id of ['s', 'a', 'n']) await journal.accept(coder, simpleEvent(id));
  await runSteeredTurn(journal, coder, 's', ['n']);
}

describe('the input before a taken one', () => {
  test('Y-08 stays pending, also after a restart, and is handled once', async () => {
    const disk = SimulatedDisk.empty();
    let journal = await open(disk, 1);
    await overtake(journal);
    expect(ids(await journal.pending(coder))).toEqual(['a']);
    await journal.close();
    const reader = await open(disk, 100);
    // The list reads the index, so the summary reads no log.
    expect(await reader.instances()).toEqual([coder]);
    expect((await reader.summary(coder)).pending).toBe(1);
    journal = await openOwner(disk, 2);
    expect(ids(await journal.pending(coder))).toEqual(['a']);
    expect((await journal.summary(coder)).pending).toBe(1);
    await runSimpleTurn(journal, coder, 'a');
    await journal.close();
    journal = await openOwner(disk, 3);
    expect(ids(await journal.pending(coder))).toEqual([]);
    const inputs = (await journal.read(coder)).messages.filter(({ id }) => id.startsWith('input-'));
    expect(inputs.map(({ id }) => id)).toEqual(['input-s', 'input-n', 'input-a']);
  });

  test('Y-08 stays pending when the taken one is delivered again, or sent as a turn of its own', async () => {
    const disk = SimulatedDisk.empty();
    let journal = await open(disk, 1);
    await overtake(journal);
    for (const life of [1, 2, 3]) {
      // The first process is killed, and the second one closes its files.
      if (life === 3) await journal.close();
      if (life > 1) journal = await open(disk, life);
      await journal.openInbox();
      expect(await journal.accept(coder, simpleEvent('n'))).toEqual({ accepted: true, duplicate: true });
      expect(await journal.cancel(coder, 'n', 'too late')).toBe(false);
      const opened = await journal.open(coder, 'turn-n', { seq: 3, event: simpleEvent('n') });
      expect(opened.finished).toMatchObject({ turnId: 'turn-s' });
      expect((await journal.open(coder, 'turn-s', { seq: 1, event: simpleEvent('s') })).finishedAlso).toEqual(['n']);
      expect(opened.isHandled({ seq: 3, event: simpleEvent('n') })).toBe(true);
      expect(opened.isHandled({ seq: 2, event: simpleEvent('a') })).toBe(false);
      expect(ids(await journal.pending(coder))).toEqual(['a']);
    }
  });

  test('Y-08 stays pending when the taken one is noted as handled, which stays a duplicate', async () => {
    const disk = SimulatedDisk.empty();
    const journal = await open(disk, 1);
    await overtake(journal);
    journal.handled(coder, 's');
    journal.handled(coder, 'n', true);
    expect(ids(await journal.pending(coder))).toEqual(['a']);
    for (const id of ['s', 'a', 'n']) {
      expect(await journal.accept(coder, simpleEvent(id))).toMatchObject({ accepted: true, duplicate: true });
    }
    expect(ids(await journal.pending(coder))).toEqual(['a']);
    await runSimpleTurn(journal, coder, 'a');
    expect(ids(await journal.pending(coder))).toEqual([]);
  });

  test('Y-08 stays in the log over compactions, without a gap in the numbers', async () => {
    const disk = SimulatedDisk.empty();
    const short = { inboxCompactionBytes: 600 };
    let journal = await open(disk, 1, short);
    await overtake(journal);
    for (const life of [2, 3, 4]) {
      for (let index = 0; index < 10; index += 1) {
        const id = `busy-${life}-${index}`;
        await handleInput(journal, at('busy'), id);
      }
      await journal.close();
      journal = await openOwner(disk, life, short);
      expect(ids(await journal.pending(coder))).toEqual(['a']);
    }
    expect(await journal.accept(coder, simpleEvent('b'))).toMatchObject({ seq: 4 });
    await runSimpleTurn(journal, coder, 'a');
    await runSimpleTurn(journal, coder, 'b');
    expect(ids(await journal.pending(coder))).toEqual([]);
  });
});

test('Y-08 a turn takes no event whose turn is committed, although it was accepted again under another number', async () => {
  const journal = await open(SimulatedDisk.empty(), 1);
  await overtake(journal);
  const opened = await journal.open(coder, 'turn-a', { seq: 2, event: simpleEvent('a') });
  const accepted = (id: string) => opened.isHandled({ seq: 9, event: simpleEvent(id) });
  expect({ s: accepted('s'), n: accepted('n'), later: accepted('later') }).toEqual({ s: true, n: true, later: false });
});

test('Y-08 a turn that is given up makes dead letters of its event and of those that it took', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk, 1);
  for (const id of ['s', 'a', 'n']) await journal.accept(coder, simpleEvent(id, { delivery: 'now' }));
  await runSteeredTurn(journal, coder, 's', ['n'], { code: 'E_DEAD_LETTER', message: 'It crashed.' });
  const letters = async (from: Journal) => (await from.deadLetters.list(coder)).map(({ event }) => event);
  expect(await letters(journal)).toEqual([
    simpleEvent('s', { delivery: 'now' }),
    simpleEvent('n', { delivery: 'now' }),
  ]);
  expect(ids(await journal.pending(coder))).toEqual(['a']);
  const next = await open(disk, 2);
  expect(ids(await letters(next))).toEqual(['s', 'n']);
  expect(await next.deadLetters.retry(coder, 'n')).toBe(true);
  expect(ids(await next.pending(coder))).toEqual(['a', 'n~retry']);
});

test('Y-08 a taken event is known as handled when its line has left the log, also after a kill', async () => {
  const disk = SimulatedDisk.empty();
  const short = { inboxCompactionBytes: 600 };
  let journal = await open(disk, 1, short);
  await overtake(journal);
  await runSimpleTurn(journal, coder, 'a');
  for (const life of [2, 3]) {
    for (let index = 0; index < 10; index += 1) await handleInput(journal, at('busy'), `busy-${life}-${index}`);
    journal = await openOwner(disk, life, short);
    expect(await journal.accept(coder, simpleEvent('n'))).toEqual({ accepted: true, duplicate: true });
  }
});

test('Y-08 a number between two handled ones that belonged to a cancel mark is not missed when the log has forgotten it', async () => {
  const disk = SimulatedDisk.empty();
  const few = { inboxIds: 2, inboxCompactionBytes: 600 };
  let journal = await open(disk, 1, few);
  await journal.accept(coder, simpleEvent('s'));
  await journal.cancel(coder, 's', 'enough');
  await journal.accept(coder, simpleEvent('n'));
  await runSteeredTurn(journal, coder, 's', ['n']);
  for (const life of [2, 3, 4]) {
    for (let index = 0; index < 10; index += 1) {
      const key = at(`other-${life}-${index}`);
      await handleInput(journal, key, 'x');
    }
    await journal.close();
    journal = await openOwner(disk, life, few);
    const id = `later-${life}`;
    expect(await journal.accept(coder, simpleEvent(id))).toMatchObject({ duplicate: false });
    expect(ids(await journal.pending(coder))).toContain(id);
    // The reader of another process sees the same.
    const reader = await open(disk, 100 + life, few);
    expect(ids(await reader.pending(coder))).toContain(id);
  }
});

test('Y-08 the inbox of an instance lists exactly the lines that no turn has handled, whatever turns take', () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 6 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 12 }), numbers, numbers, (handled, first, second) => {
      const inbox = new InstanceInbox(coder);
      for (let seq = 1; seq <= 12; seq += 1)
        inbox.add(seq, { payload: { event: simpleEvent(`e${seq}`) }, segment: 1, bytes: 1 });
      const isPending = (taken: readonly number[]) => (seq: number) => seq > handled && !taken.includes(seq);
      const all = Array.from({ length: 12 }, (_, index) => index + 1);
      inbox.commit({ handled, taken: first });
      expect(inbox.entries().map(({ seq }) => seq)).toEqual(all.filter(isPending(first)));
      expect(inbox.lines.size).toBe(12);
      const told = inbox.settle({ handled, taken: [...first, ...second] });
      const pending = all.filter(isPending([...first, ...second]));
      expect(inbox.entries().map(({ seq }) => seq)).toEqual(pending);
      expect(new Set(told)).toEqual(new Set(all.filter((seq) => !pending.includes(seq)).map((seq) => `e${seq}`)));
      // A line stays until all lines before it are handled.
      expect([...inbox.lines.keys()]).toEqual(all.filter((seq) => seq >= (pending[0] ?? 13)));
      expect(inbox).toMatchObject({ events: inbox.lines.size, bytes: inbox.lines.size, isEmpty: pending.length === 0 });
      expect(inbox.problem({ handled, taken: [...first, ...second] })).toBeUndefined();
    }),
    { numRuns: samples(500) },
  );
});
