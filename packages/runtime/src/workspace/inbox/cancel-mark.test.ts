/** Tests that a cancel mark is as durable as its event. */
import { describe, expect, test } from 'bun:test';
import { sampledCases } from '../../../../../test/samples.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { coder, handleInput, openOwner, openSimulated as open } from '../simulation/simulated-journal.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';

type OpenJournal = Awaited<ReturnType<typeof open>>;

/** Lists the pending events, each with the reason of its cancel. */
async function pendingOf(journal: OpenJournal): Promise<[string, string | undefined][]> {
  return (await journal.pendingEntries(coder)).map(({ event, cancelled }) => [event.id, cancelled]);
}

describe('the cancel mark', () => {
  test('is seen by the agent with the open inbox, by the next start, and by a second delivery', async () => {
    const disk = SimulatedDisk.empty();
    const orchestrator = await open(disk);
    const agent = await open(disk);
    for (const id of ['a', 'b', 'c']) await orchestrator.accept(coder, simpleEvent(id));
    await runSimpleTurn(agent, coder, 'a');
    expect(await orchestrator.cancel(coder, 'b', 'enough')).toBe(true);
    const expected: [string, string | undefined][] = [
      ['b', 'enough'],
      ['c', undefined],
    ];
    for (const journal of [orchestrator, agent, await open(disk, 2)])
      expect(await pendingOf(journal)).toEqual(expected);
    expect((await orchestrator.accept(coder, simpleEvent('b'))).pending?.cancelled).toBe('enough');
    expect((await (await open(disk, 3)).accept(coder, simpleEvent('b'))).pending?.cancelled).toBe('enough');
  });

  test('is written once', async () => {
    const disk = SimulatedDisk.empty();
    const journal = await open(disk);
    for (const id of ['a', 'b']) await journal.accept(coder, simpleEvent(id));
    await runSimpleTurn(journal, coder, 'a');
    expect(await journal.cancel(coder, 'b', 'first')).toBe(true);
    expect(await journal.cancel(coder, 'b', 'second')).toBe(true);
    expect(await pendingOf(journal)).toEqual([['b', 'first']]);
    expect(await journal.accept(coder, simpleEvent('c'))).toMatchObject({ seq: 4 });
  });

  test('takes no room from events, and is written even to a full inbox', async () => {
    const journal = await open(SimulatedDisk.empty(), 1, { inboxEvents: 2 });
    for (const id of ['a', 'b']) await journal.accept(coder, simpleEvent(id));
    expect(await journal.cancel(coder, 'a', 'enough')).toBe(true);
    expect(await rejectionOf(journal.accept(coder, simpleEvent('c')))).toMatchObject({ code: 'E_INBOX_FULL' });
    await runSimpleTurn(journal, coder, 'a');
    await journal.accept(coder, simpleEvent('c'));
    expect(await pendingOf(journal)).toEqual([
      ['b', undefined],
      ['c', undefined],
    ]);
  });

  test('is removed with its own event, not with another one', async () => {
    const disk = SimulatedDisk.empty();
    const limits = { inboxCompactionBytes: 1 };
    const journal = await open(disk, 1, limits);
    // There are marks at the end of the inbox, between events, and for an event that was handled long ago.
    for (const id of ['a', 'b', 'c']) await journal.accept(coder, simpleEvent(id));
    await journal.cancel(coder, 'a', 'about a');
    await journal.cancel(coder, 'c', 'about c');
    await journal.accept(coder, simpleEvent('d'));
    for (const id of ['a', 'b']) await runSimpleTurn(journal, coder, id);
    await journal.accept(coder, simpleEvent('e'));
    const left: [string, string | undefined][] = [
      ['c', 'about c'],
      ['d', undefined],
      ['e', undefined],
    ];
    for (const each of [journal, await open(disk, 2, limits)]) expect(await pendingOf(each)).toEqual(left);
    for (const id of ['c', 'd', 'e']) await runSimpleTurn(journal, coder, id);
    await journal.accept(coder, simpleEvent('f'));
    for (const each of [journal, await open(disk, 3, limits)])
      expect(await pendingOf(each)).toEqual([['f', undefined]]);
    const folder = '/state/workspaces/simulation/inbox';
    const segments = ((await disk.list(folder)) ?? []).filter((name) => /\d\.jsonl$/.test(name));
    expect(segments.length).toBeGreaterThan(0);
    for (const name of segments)
      expect(new TextDecoder().decode(await disk.read(`${folder}/${name}`))).not.toContain('about');
  });

  test('is copied with its event when their segment is removed', async () => {
    const disk = SimulatedDisk.empty();
    const limits = { inboxCompactionBytes: 4_000 };
    const journal = await open(disk, 1, limits);
    for (const id of ['a', 'b']) await journal.accept(coder, simpleEvent(id));
    await journal.cancel(coder, 'b', 'about b');
    const other = { ...coder, instanceKey: 'other' };
    for (let number = 0; number < 100; number += 1) await handleInput(journal, other, `e${number}`);
    const segments = ((await disk.list('/state/workspaces/simulation/inbox')) ?? []).toSorted();
    expect(segments).not.toContain('inbox.000001.jsonl');
    for (const each of [journal, await open(disk, 2, limits)])
      expect(await pendingOf(each)).toEqual([
        ['a', undefined],
        ['b', 'about b'],
      ]);
  });

  test('is an error when it cannot be written, and then leaves no mark', async () => {
    const disk = SimulatedDisk.empty();
    let isFull = false;
    const fs = failingFs(disk, (operation) => {
      if (isFull && operation === 'append') throw systemError('ENOSPC');
    });
    const journal = await open(fs);
    await journal.accept(coder, simpleEvent('a'));
    isFull = true;
    expect(await rejectionOf(journal.cancel(coder, 'a', 'enough'))).toMatchObject({ code: 'E_DISK_FULL' });
    isFull = false;
    expect(await pendingOf(journal)).toEqual([['a', undefined]]);
    expect(await journal.cancel(coder, 'a', 'enough')).toBe(true);
    expect(await pendingOf(journal)).toEqual([['a', 'enough']]);
  });

  test.each(['kill', 'power'] as const)('survives a crash at every operation: %s', async (mode) => {
    const limits = { inboxCompactionBytes: 1 };
    const disk = SimulatedDisk.empty();
    const accepted: string[] = [];
    const cancelled: string[] = [];
    const committed: string[] = [];
    const moments: (() => Promise<void>)[] = [];
    disk.afterOperation = () => {
      const then = disk.copy();
      const known = { accepted: [...accepted], cancelled: [...cancelled], committed: [...committed] };
      moments.push(async () => {
        for (const seed of sampledCases([1, 2, 3], 3)) {
          const after = await open(then.crash(mode, seededRandom(seed, moments.length)), 2, limits);
          const pending = new Map(await pendingOf(after));
          for (const id of known.accepted) {
            if (known.committed.includes(id)) continue;
            // The commit of a turn may be on disk before its caller knows. Then the turn has its normal result.
            if (!pending.has(id)) expect(await after.cancel(coder, id, 'late')).toBe(false);
            else if (known.cancelled.includes(id)) expect(pending.get(id)).toBe(`about ${id}`);
          }
          await after.close();
        }
      });
    };
    const journal = await open(disk, 1, limits);
    for (const round of [1, 2, 3]) {
      const ids = ['a', 'b', 'c'].map((id) => `${id}${round}`);
      for (const id of ids) {
        await journal.accept(coder, simpleEvent(id));
        accepted.push(id);
      }
      for (const id of ids.slice(0, 2)) {
        await journal.cancel(coder, id, `about ${id}`);
        cancelled.push(id);
      }
      for (const id of round === 3 ? [] : ids) {
        await runSimpleTurn(journal, coder, id);
        committed.push(id);
      }
    }
    disk.afterOperation = undefined;
    expect(moments.length).toBeGreaterThan(50);
    for (const check of moments) await check();
  });
});

test('a mark that left the log with its event, by a compaction that read the log of the instance, is not missed', async () => {
  const disk = SimulatedDisk.empty();
  const limits = { inboxCompactionBytes: 600 };
  const orchestrator = await openOwner(disk, 1, limits);
  const agent = await open(disk, 1, limits);
  await orchestrator.accept(coder, simpleEvent('a'));
  await orchestrator.cancel(coder, 'a', 'enough');
  const other = { ...coder, instanceKey: 'other' };
  const moments: SimulatedDisk[] = [];
  for (let index = 0; index < 12; index += 1) {
    if (index === 5) {
      // The event is in a later segment than the mark, and too long to be copied.
      await orchestrator.accept(coder, simpleEvent('b', { input: 'long '.repeat(500) }));
      // The orchestrator does not hear of the end of this turn, but of that of all others.
      await runSimpleTurn(agent, coder, 'a');
      disk.afterOperation = () => moments.push(disk.copy());
    }
    await orchestrator.accept(other, simpleEvent(`x${index}`));
    await runSimpleTurn(agent, other, `x${index}`);
    orchestrator.handled(other, `x${index}`);
  }
  disk.afterOperation = undefined;
  expect(moments.length).toBeGreaterThan(20);
  for (const moment of moments) {
    const next = await openOwner(moment, 2, limits);
    expect(await pendingOf(next)).toEqual([['b', undefined]]);
  }
});
