import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { samples } from '../../../../../test/samples.ts';
import type { Fs } from '../../ports/fs.ts';
import { defaultLimits } from '../limits.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { type CrashMode, SimulatedDisk } from '../simulation/simulated-disk.ts';
import {
  bytesOf,
  coder,
  handleInput,
  idsOf as ids,
  momentsOf,
  openOwner,
  openSimulated as open,
} from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { listTraces } from '../traces/trace-names.ts';
import { openJournal, type Journal } from './journal.ts';

const other = { agentName: 'coder', instanceKey: 'other' };
const instances = '/state/workspaces/simulation/instances';
const folder = `${instances}/coder~default`;

/** Runs two turns with a state, and closes all files. */
async function talk(disk: SimulatedDisk): Promise<void> {
  const orchestrator = await open(disk);
  const agent = await open(disk);
  for (const id of ['a', 'b']) {
    await orchestrator.accept(coder, simpleEvent(id));
    await runSimpleTurn(agent, coder, id, { extensionState: { memo: id } });
  }
  await agent.close();
  await orchestrator.close();
}

test('erases the traces and runtime events of the instance, also after an interrupted deletion', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const agent = await open(disk);
  for (const address of [coder, other]) {
    const turn = { turnId: `turn-${address.instanceKey}`, traceId: 'trace', startedAt: new Date(0) };
    const traces = await agent.openTraces(address);
    await traces.append([{ turn, isNeeded: true, text: () => '{"type":"cut"}' }]);
    const events = await agent.openRuntimeEvents(address);
    await events.append([{ time: new Date(0).toISOString(), name: `event of ${address.instanceKey}` }]);
  }
  const read = async (from: Fs) => ({
    turns: (await listTraces(from, '/state/workspaces/simulation')).map(({ turn }) => turn).toSorted(),
    events: (await bytesOf(from, '/state/workspaces/simulation/logs/runtime-events.000001.jsonl'))
      .toString()
      .match(/event of \w+/g)
      ?.join(),
  });
  const both = { turns: ['turn-default', 'turn-other'], events: 'event of default,event of other' };
  expect(await read(disk)).toEqual(both);

  const journal = await open(disk, 2);
  const moments = await momentsOf(disk, () => journal.delete(coder));
  const one = { turns: ['turn-other'], events: 'event of other' };
  expect(await read(disk)).toEqual(one);
  for (const moment of moments) {
    const next = await open(moment, 3);
    await next.sweep();
    expect(await read(moment)).toEqual((await next.has(coder)) ? both : one);
  }
});

test('the pending input of an instance is there after a crash exactly if the instance is', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  await journal.accept(coder, simpleEvent('pending'));
  const moments: SimulatedDisk[] = [];
  disk.afterOperation = () => moments.push(disk.copy());
  expect(await journal.delete(coder, { force: true })).toEqual({ inputs: 1 });
  disk.afterOperation = undefined;

  const outcomes = new Set<boolean>();
  for (const [index, moment] of moments.entries()) {
    for (const mode of ['kill', 'power'] as const) {
      const next = await openOwner(moment.crash(mode, seededRandom(index)), 3);
      await next.sweep();
      const isThere = ids((await next.read(coder)).messages).length > 0;
      expect((await next.pending(coder)).map(({ id }) => id)).toEqual(isThere ? ['pending'] : []);
      outcomes.add(isThere);
    }
  }
  expect(outcomes).toEqual(new Set([true, false]));
});

test('deletes everything, also the ids of handled events, and no other instance', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  await runSimpleTurn(journal, other, 'x');
  expect(await journal.has(coder)).toBe(true);
  expect(await journal.delete(coder)).toEqual({ inputs: 0 });
  expect(await journal.has(coder)).toBe(false);
  expect(await disk.list(instances)).toEqual(['coder~other']);
  expect(await journal.instances()).toEqual([other]);
  expect(ids((await journal.read(other)).messages)).toEqual(['input-x', 'answer-x']);

  expect(await journal.read(coder)).toEqual({ version: 0, stateVersion: 0, messages: [], extensionState: {} });
  expect(await journal.accept(coder, simpleEvent('a'))).toMatchObject({ duplicate: false, seq: 5 });
  await runSimpleTurn(journal, coder, 'a');
  expect(await journal.read(coder)).toMatchObject({ version: 1, messages: [{ id: 'input-a' }, { id: 'answer-a' }] });
});

test('a folder without files is not a conversation yet', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  await disk.makeFolder(`${instances}/coder~begun`);
  const journal = await open(disk, 2);
  expect(await journal.instances()).toEqual([coder]);
});

test('an instance with accepted input is deleted only with `force`, and keeps the input otherwise', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const journal = await open(disk, 2);
  for (const id of ['c', 'd']) await journal.accept(coder, simpleEvent(id));
  expect(await rejectionOf(journal.delete(coder))).toMatchObject({
    code: 'E_INSTANCE_PENDING',
    message: 'Conversation "default" of coder has 2 accepted inputs that are not handled yet.',
  });
  // The lock was released, so the agent's own process can continue.
  const agent = await open(disk, 2);
  expect((await agent.pending(coder)).map(({ id }) => id)).toEqual(['c', 'd']);
  await runSimpleTurn(agent, coder, 'c');
  await agent.close();
  expect(await journal.accept(coder, simpleEvent('d'))).toMatchObject({ duplicate: true });
  expect(await journal.delete(coder, { force: true })).toEqual({ inputs: 1 });
  expect(await journal.pending(coder)).toEqual([]);
});

test('rejects an unknown instance, one that a process owns and one with a running turn', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  expect(await rejectionOf(journal.delete(coder))).toMatchObject({
    code: 'E_INSTANCE_UNKNOWN',
    message: 'coder has no conversation "default".',
  });
  const agent = await open(disk);
  await runSimpleTurn(agent, coder, 'a');
  expect(await rejectionOf(journal.delete(coder))).toMatchObject({ code: 'E_LOCKED' });
  const { epoch } = await agent.open(coder, 'turn-b');
  expect(await rejectionOf(agent.delete(coder))).toMatchObject({ code: 'E_STORE_ORDER' });
  await agent.append(coder, epoch, 0, simpleRecords('b').slice(0, 1));
  expect(ids((await agent.read(coder)).messages)).toEqual(['input-a', 'answer-a']);
});

test('deletes damaged files too, with `force`', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  const metadata = await disk.openFile(`${folder}/metadata.json`);
  await metadata.truncate(40);
  const journal = await open(disk, 2);
  expect(await rejectionOf(journal.delete(coder))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(await journal.has(coder)).toBe(true);
  expect(await journal.delete(coder, { force: true })).toEqual({});
  await runSimpleTurn(journal, coder, 'a');
  expect(ids((await journal.read(coder)).messages)).toEqual(['input-a', 'answer-a']);
});

test('input accepted at the same time is rejected, kept or in the new conversation, never lost', async () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 60; seed += 1) {
    const disk = SimulatedDisk.empty();
    await talk(disk);
    const random = seededRandom(seed);
    disk.syncTicks = () => random.below(20);
    // Accepting is slow here, because handled events are removed first.
    const limits = { ...defaultLimits, inboxCompactionBytes: 1 };
    const journal = await openJournal(simulatedMachine(disk, 2), simulatedLocation, limits);
    const wait = async () => {
      for (let ticks = random.below(60); ticks > 0; ticks -= 1) await Promise.resolve();
    };
    const accepting = wait().then(() => journal.accept(coder, simpleEvent('c')));
    const deleted = await wait()
      .then(() => journal.delete(coder))
      .then(
        () => 'deleted',
        (error: unknown) => (error instanceof GoondanError ? error.code : String(error)),
      );
    await accepting;
    expect((await (await open(disk, 3)).pending(coder)).map(({ id }) => id)).toEqual(['c']);
    seen.add(deleted);
  }
  expect(seen).toEqual(new Set(['deleted', 'E_INSTANCE_PENDING']));
});

test('a crash at any moment leaves everything or nothing, and a sweep finishes the deletion', async () => {
  const whole = SimulatedDisk.empty();
  await talk(whole);
  const moments: { readonly disk: SimulatedDisk; readonly isDone: boolean }[] = [];
  const disk = whole.copy();
  const journal = await open(disk, 2);
  disk.afterOperation = () => moments.push({ disk: disk.copy(), isDone: false });
  await journal.delete(coder);
  disk.afterOperation = undefined;
  moments.push({ disk: disk.copy(), isDone: true });

  const outcomes = new Set<string>();
  for (const [index, moment] of moments.entries()) {
    for (const mode of ['kill', 'power'] as const) {
      for (let seed = 0; seed < samples(5); seed += 1) {
        const survivor = moment.disk.crash(mode, seededRandom(index, seed));
        const outcome = await judge(survivor.copy());
        if (moment.isDone) expect(outcome).toBe('gone');
        outcomes.add(outcome);
        await crashTheSweep(survivor, outcome);
      }
    }
  }
  expect(outcomes).toEqual(new Set(['whole', 'gone']));
});

/**
 * Checks that the next process finds the same before and after it sweeps leftover folders. Returns whether the instance
 * is whole or gone.
 */
async function judge(disk: SimulatedDisk): Promise<'whole' | 'gone'> {
  const journal = await open(disk, 4);
  const before = await look(journal);
  await journal.sweep();
  expect((await disk.list(instances))?.filter((name) => name.startsWith('.deleted-'))).toEqual([]);
  expect(await look(journal)).toBe(before);
  await handleInput(journal, coder, 'c');
  expect((await journal.read(coder)).messages.length).toBe(before === 'gone' ? 2 : 6);
  return before;
}

async function look(journal: Journal): Promise<'whole' | 'gone'> {
  if (!(await journal.has(coder))) {
    expect(await journal.instances()).toEqual([]);
    return 'gone';
  }
  const { messages, extensionState } = await journal.read(coder);
  expect(ids(messages)).toEqual(['input-a', 'answer-a', 'input-b', 'answer-b']);
  expect(extensionState).toEqual({ memo: 'b' });
  expect(await Array.fromAsync(journal.archive(coder))).toHaveLength(2);
  expect(await journal.instances()).toEqual([coder]);
  return 'whole';
}

/** Crashes at each moment of a sweep, while changes of a killed process are not synced yet. */
async function crashTheSweep(disk: SimulatedDisk, before: 'whole' | 'gone'): Promise<void> {
  const journal = await open(disk, 3);
  const moments = await momentsOf(disk, () => journal.sweep());
  const modes: readonly CrashMode[] = ['power', 'kill'];
  for (const [index, moment] of moments.entries()) {
    const outcome = await judge(moment.crash(modes[index % 2] ?? 'power', seededRandom(index)));
    if (before === 'whole') expect(outcome).toBe('whole');
  }
}

test('a folder that cannot be removed is reported and tried again; the instance is deleted anyway', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  let isBroken = true;
  const fs = failingFs(disk, (operation) => {
    if (isBroken && operation === 'removeFolder') throw systemError('EACCES');
  });
  const machine = simulatedMachine(fs, 2);
  const journal = await openJournal(machine, simulatedLocation);
  await journal.delete(coder);
  expect(await journal.instances()).toEqual([]);
  expect(machine.warnings).toMatchObject([{ message: expect.stringContaining('left of a deletion or a fork') }]);
  isBroken = false;
  await journal.sweep();
  expect(await disk.list(instances)).toEqual([]);
});

test('a disk error in the middle leaves the instance unchanged', async () => {
  const disk = SimulatedDisk.empty();
  await talk(disk);
  let renames = 0;
  const fs = failingFs(disk, (operation) => {
    // The first rename belongs to the lock.
    if (operation === 'rename' && ++renames === 2) throw systemError('EIO');
  });
  const journal = await open(fs, 2);
  expect(await rejectionOf(journal.delete(coder))).toMatchObject({ code: 'E_STORE_WRITE' });
  expect(await look(journal)).toBe('whole');
  expect(await journal.delete(coder)).toEqual({ inputs: 0 });
});
