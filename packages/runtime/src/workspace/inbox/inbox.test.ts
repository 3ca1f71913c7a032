import { expect, test } from 'bun:test';
import { dirname } from 'node:path';
import { GoondanError } from '@goondan/types';
import { type Journal, openJournal } from '../journal/journal.ts';
import { defaultLimits } from '../limits.ts';
import { failingFs } from '../simulation/failing-fs.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { coder, handleInput, idsOf as ids, openSimulated as open } from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';

const inboxPath = '/state/workspaces/simulation/inbox/inbox.000001.jsonl';

test('agents and instances whose names have the same letters one after the other have inboxes of their own', async () => {
  const disk = SimulatedDisk.empty();
  const addresses = [
    { agentName: 'ab', instanceKey: 'c' },
    { agentName: 'a', instanceKey: 'bc' },
  ];
  const journal = await open(disk);
  for (const address of addresses)
    expect(await journal.accept(address, simpleEvent('same'))).toMatchObject({ duplicate: false, seq: 1 });
  for (const each of [journal, await open(disk, 2)])
    for (const address of addresses) expect(ids(await each.pending(address))).toEqual(['same']);
});

/** Opens an inbox with a fence. The fence passes as many checks as `passes` says, and then refuses. */
async function openFenced(disk: SimulatedDisk, inboxCompactionBytes = 1) {
  const left = { passes: Infinity };
  const fence = () => {
    left.passes -= 1;
    if (left.passes < 0) throw new GoondanError('E_FENCED', 'the workspace was replaced');
  };
  const limits = { ...defaultLimits, inboxCompactionBytes };
  const journal = await openJournal({ ...simulatedMachine(disk, 1), fence }, simulatedLocation, limits);
  return { journal, left };
}

test.each([
  ['an event', async () => undefined, (journal: Journal) => journal.accept(coder, simpleEvent('b'))],
  ['a cancel', async () => undefined, (journal: Journal) => journal.cancel(coder, 'a', 'enough')],
  [
    'a shorter inbox',
    (journal: Journal) => runSimpleTurn(journal, coder, 'a'),
    (journal: Journal) => journal.accept(coder, simpleEvent('b')),
  ],
] as const)('%s is not written once the workspace is lost', async (_title, prepare, write) => {
  const disk = SimulatedDisk.empty();
  const { journal, left } = await openFenced(disk);
  await journal.accept(coder, simpleEvent('a'));
  await prepare(journal);
  const before = await disk.read(inboxPath);
  left.passes = 0;
  expect(await rejectionOf(write(journal))).toMatchObject({ code: 'E_FENCED' });
  expect(await disk.read(inboxPath)).toEqual(before);
});

test('an inbox is not made once the workspace is lost', async () => {
  const disk = SimulatedDisk.empty();
  const { journal, left } = await openFenced(disk);
  left.passes = 0;
  expect(await rejectionOf(journal.accept(coder, simpleEvent('a')))).toMatchObject({ code: 'E_FENCED' });
  expect(await disk.read(inboxPath)).toBeUndefined();
});

test('an event that was written while the workspace was lost is not accepted', async () => {
  const { journal, left } = await openFenced(SimulatedDisk.empty(), defaultLimits.inboxCompactionBytes);
  await journal.accept(coder, simpleEvent('a'));
  left.passes = 1;
  expect(await rejectionOf(journal.accept(coder, simpleEvent('b')))).toMatchObject({ code: 'E_FENCED' });
});

test('a second delivery returns the stored event while it is pending, and nothing once it is handled', async () => {
  const disk = SimulatedDisk.empty();
  const orchestrator = await open(disk);
  const agent = await open(disk);
  await orchestrator.accept(coder, simpleEvent('a'));
  expect(await orchestrator.accept(coder, simpleEvent('b'))).toMatchObject({ seq: 2 });
  const again = { ...simpleEvent('b'), input: 'other words under the same id' };
  const pending = { seq: 2, event: simpleEvent('b') };
  expect(await orchestrator.accept(coder, again)).toEqual({ accepted: true, duplicate: true, pending });
  await runSimpleTurn(agent, coder, 'a');
  expect(await orchestrator.accept(coder, simpleEvent('a'))).toEqual({ accepted: true, duplicate: true });
  expect(await orchestrator.accept(coder, again)).toEqual({ accepted: true, duplicate: true, pending });
  await runSimpleTurn(agent, coder, 'b');
  expect(await orchestrator.accept(coder, again)).toEqual({ accepted: true, duplicate: true });
});

test('owners and other readers see the same pending events with the same numbers', async () => {
  const disk = SimulatedDisk.empty();
  const orchestrator = await open(disk);
  const agent = await open(disk);
  for (const id of ['a', 'b', 'c']) await orchestrator.accept(coder, simpleEvent(id));
  await runSimpleTurn(agent, coder, 'a');
  const left = [
    { seq: 2, event: simpleEvent('b') },
    { seq: 3, event: simpleEvent('c') },
  ];
  expect(await orchestrator.pendingEntries(coder)).toEqual(left);
  expect(await agent.pendingEntries(coder)).toEqual(left);
  expect(await (await open(disk, 2)).pendingEntries(coder)).toEqual(left);
});

test('an inbox that was rewritten under the same identity is read again', async () => {
  const disk = SimulatedDisk.empty();
  const limits = { inboxCompactionBytes: 1 };
  const orchestrator = await open(disk, 1, limits);
  // A disk may give a new file the identity (inode) of the file that it replaced.
  const forgetful = {
    ...failingFs(disk, () => undefined),
    async stat(path: string) {
      const stat = await disk.stat(path);
      return stat && { ...stat, identity: 'the same' };
    },
  };
  const agent = await open(forgetful, 1, limits);
  await orchestrator.accept(coder, simpleEvent('a'));
  await runSimpleTurn(agent, coder, 'a');
  await orchestrator.accept(coder, simpleEvent('b', { input: 'x'.repeat(1000) }));
  expect(ids(await agent.pending(coder))).toEqual(['b']);
});

test('concurrent events are accepted one after the other, each once', async () => {
  const journal = await open(SimulatedDisk.empty());
  const accepting = ['a', 'b', 'a', 'c', 'b'].map((id) => journal.accept(coder, simpleEvent(id)));
  const duplicates = (await Promise.all(accepting)).map(({ duplicate }) => duplicate);
  expect(duplicates).toEqual([false, false, true, false, true]);
  expect(ids(await journal.pending(coder))).toEqual(['a', 'b', 'c']);
});

test('a full inbox rejects with E_INBOX_FULL, and accepts again after an event was handled', async () => {
  const journal = await open(SimulatedDisk.empty(), 1, { inboxEvents: 2 });
  await journal.accept(coder, simpleEvent('a'));
  await journal.accept(coder, simpleEvent('b'));
  expect(await rejectionOf(journal.accept(coder, simpleEvent('c')))).toMatchObject({ code: 'E_INBOX_FULL' });
  expect((await journal.accept(coder, simpleEvent('a'))).duplicate).toBe(true);
  await runSimpleTurn(journal, coder, 'a');
  await journal.accept(coder, simpleEvent('c'));
  expect(ids(await journal.pending(coder))).toEqual(['b', 'c']);
});

test('the limit in bytes counts pending events', async () => {
  const journal = await open(SimulatedDisk.empty(), 1, { inboxBytes: 1000 });
  expect(await rejectionOf(journal.accept(coder, simpleEvent('a', { input: 'x'.repeat(1000) })))).toMatchObject({
    code: 'E_INBOX_FULL',
  });
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await handleInput(journal, coder, id);
});

test('a full inbox removes handled events even if most of its events are pending', async () => {
  const journal = await open(SimulatedDisk.empty(), 1, { inboxBytes: 5000 });
  const long = { input: 'x'.repeat(2000) };
  await journal.accept(coder, simpleEvent('a', long));
  for (const id of ['b', 'c', 'd']) await journal.accept(coder, simpleEvent(id));
  expect(await rejectionOf(journal.accept(coder, simpleEvent('e', long)))).toMatchObject({ code: 'E_INBOX_FULL' });
  await runSimpleTurn(journal, coder, 'a');
  await journal.accept(coder, simpleEvent('e', long));
  expect(ids(await journal.pending(coder))).toEqual(['b', 'c', 'd', 'e']);
});

test('handled events are removed from the file, and the ids of the last ones stay known', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk, 1, { inboxCompactionBytes: 1000, rememberedEvents: 20 });
  for (let index = 0; index < 40; index += 1) {
    await handleInput(journal, coder, `e${index}`);
    const names = (await disk.list(dirname(inboxPath))) ?? [];
    expect(names.length).toBeLessThan(5);
  }
  const again = await open(disk, 2, { inboxCompactionBytes: 1000, rememberedEvents: 20 });
  for (const id of ['e20', 'e30', 'e39']) expect((await again.accept(coder, simpleEvent(id))).duplicate).toBe(true);
  expect(await again.pending(coder)).toEqual([]);
});

test('an event older than the remembered ids is not handled again', async () => {
  const disk = SimulatedDisk.empty();
  const limits = { inboxCompactionBytes: 1, rememberedEvents: 1 };
  const journal = await open(disk, 1, limits);
  for (const id of ['a', 'b', 'c']) await handleInput(journal, coder, id);
  const before = await journal.read(coder);
  expect((await journal.accept(coder, simpleEvent('a'))).duplicate).toBe(false);
  expect(ids(await journal.pending(coder))).toEqual(['a']);
  const [entry] = await journal.pendingEntries(coder);
  const { finished } = await journal.open(coder, 'turn-a', entry);
  expect(finished?.turnId).toBe('turn-a');
  expect(await journal.pending(coder)).toEqual([]);
  expect(await journal.read(coder)).toEqual(before);
});

test.each([
  ['still in the file', {}],
  ['taken out of the file', { inboxCompactionBytes: 1 }],
] as const)('a handled event with a forgotten result is not handled again: %s', async (_, limits) => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk, 1, { rememberedTurns: 1, ...limits });
  for (const id of ['a', 'b']) await handleInput(journal, coder, id);
  await journal.accept(coder, simpleEvent('c'));
  const before = await journal.read(coder);
  for (const life of [1, 2]) {
    const reader = life === 1 ? journal : await open(disk, life, { rememberedTurns: 1, ...limits });
    const told = (seq: number, id: string) => reader.open(coder, `turn-${id}`, { seq, event: simpleEvent(id) });
    for (const seq of [0, 1]) expect(await rejectionOf(told(seq, 'a'))).toMatchObject({ code: 'E_TURN_FORGOTTEN' });
    expect((await told(2, 'b')).finished?.turnId).toBe('turn-b');
    expect(await reader.read(coder)).toEqual(before);
  }
  const last = await open(disk, 3, { rememberedTurns: 1, ...limits });
  await runSimpleTurn(last, coder, 'c');
  expect(await last.pending(coder)).toEqual([]);
});

test('closes instances above the limit and opens them again', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  const addresses = Array.from({ length: 300 }, (_, index) => ({ agentName: 'coder', instanceKey: `k${index}` }));
  for (const address of addresses) await journal.accept(address, simpleEvent('a'));
  for (const address of addresses) await journal.accept(address, simpleEvent('b'));
  expect(ids(await journal.pending({ agentName: 'coder', instanceKey: 'k0' }))).toEqual(['a', 'b']);
  expect((await journal.instances()).length).toBe(300);
});
