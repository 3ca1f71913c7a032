import { describe, expect, test } from 'bun:test';
import { readConversationAt } from '../history/read-conversation-at.ts';
import { readHistory } from '../history/read-history.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { coder, openSimulated as open } from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { openJournal } from './journal.ts';

describe('a commit of states alone', () => {
  test('is not part of the history, and is copied by a fork of the newest moment', async () => {
    const journal = await open(SimulatedDisk.empty());
    await runSimpleTurn(journal, coder, 'e0', { extensionState: { memo: 0 } });
    const before = await readHistory(journal, coder);
    expect(await journal.commitStates(coder, 1, { memo: 1, other: 'x' })).toBe(2);
    expect(await journal.read(coder)).toMatchObject({
      version: 1,
      stateVersion: 2,
      extensionState: { memo: 1, other: 'x' },
    });
    expect(await readHistory(journal, coder)).toEqual(before);
    expect(await Array.fromAsync(journal.archive(coder))).toHaveLength(1);
    await journal.fork(coder, { as: 'copy' });
    expect((await journal.read({ ...coder, instanceKey: 'copy' })).extensionState).toEqual({ memo: 1, other: 'x' });
  });

  test('is archived with the next turn, whether that turn changes the state again or not', async () => {
    const journal = await open(SimulatedDisk.empty());
    await runSimpleTurn(journal, coder, 'e0', { extensionState: { gone: 1, memo: 0 } });
    await journal.commitStates(coder, 1, { memo: 1, still: true });
    await journal.commitStates(coder, 2, { memo: 2, still: true });
    await runSimpleTurn(journal, coder, 'e1', { extensionState: { memo: 3, still: true } });
    const statesAt = async (seq: number) => (await readConversationAt(journal, coder, seq)).extensionState;
    expect(await statesAt(2)).toEqual({ gone: 1, memo: 0 });
    expect(await statesAt(4)).toEqual({ memo: 3, still: true });
    await journal.commitStates(coder, 4, {});
    await runSimpleTurn(journal, coder, 'e2');
    expect(await statesAt(6)).toEqual({});
  });

  test('writes nothing when nothing changes', async () => {
    const disk = SimulatedDisk.empty();
    const journal = await open(disk);
    await runSimpleTurn(journal, coder, 'e0', { extensionState: { memo: 0 } });
    let operations = 0;
    disk.afterOperation = () => (operations += 1);
    expect(await journal.commitStates(coder, 1, { memo: 0 })).toBe(1);
    expect(operations).toBe(0);
  });

  test('before the first turn creates the instance, and the first turn starts with the states', async () => {
    const disk = SimulatedDisk.empty();
    const journal = await open(disk);
    await journal.commitStates(coder, 0, { memo: 'from register' });
    await journal.close();
    const next = await open(disk, 2);
    expect(await next.hasWork(coder)).toBe(false);
    expect(await next.open(coder, 'turn-e0')).toMatchObject({ version: 0, extensionState: { memo: 'from register' } });
  });

  test('does not touch the log of an interrupted turn', async () => {
    const disk = SimulatedDisk.empty();
    const journal = await open(disk);
    await journal.accept(coder, simpleEvent('e0'));
    const { epoch } = await journal.open(coder, 'turn-e0');
    await journal.append(coder, epoch, 0, simpleRecords('e0'));
    const next = await open(disk, 2);
    await next.commitStates(coder, 0, { memo: 1 });
    await next.close();
    expect((await (await open(disk, 3)).open(coder, 'turn-e0')).log).toHaveLength(3);
  });

  test('is rejected from a writer whose lock another process took', async () => {
    const disk = SimulatedDisk.empty();
    const machine = simulatedMachine(disk, 1);
    const processes = { ...machine.processes, isAlive: () => true };
    const first = await openJournal({ ...machine, processes }, simulatedLocation);
    await first.commitStates(coder, 0, { memo: 1 });
    // The second process runs in a later life of the machine, in which the first process is dead.
    const second = await open(disk, 2);
    await second.commitStates(coder, 1, { memo: 2 });
    expect(await rejectionOf(first.commitStates(coder, 1, { memo: 3 }))).toMatchObject({ code: 'E_LOCKED' });
    expect((await second.read(coder)).extensionState).toEqual({ memo: 2 });
  });
});
