import { expect, test } from 'bun:test';
import type { Message } from '@goondan/types';
import { fold } from '../../testing/fold.ts';
import type { Fs } from '../../ports/fs.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { bytesOf, coder, idsOf as ids, openSimulated as open } from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { runSimpleTurn, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { defaultLimits } from '../limits.ts';
import { openJournal, type Journal } from './journal.ts';

const folder = '/state/workspaces/simulation/instances/coder~default';

async function accept(journal: Journal, ...eventIds: string[]): Promise<void> {
  for (const id of eventIds) await journal.accept(coder, simpleEvent(id));
}

/** Runs a turn whose process ends in the middle of the turn. */
async function interrupt(disk: Fs, eventId: string, life = 1): Promise<void> {
  const agent = await open(disk, life);
  const { epoch } = await agent.open(coder, `turn-${eventId}`);
  await agent.append(coder, epoch, 0, simpleRecords(eventId).slice(0, 1));
  await agent.append(coder, epoch, 1, [
    { type: 'resumed' },
    { type: 'effect', key: 'k', kind: 'tool', outcome: { ok: true, value: 1 } },
  ]);
  await agent.close();
}

test('a reset that is refused ends nothing first, and any other ends it just before', async () => {
  const disk = SimulatedDisk.empty();
  const orchestrator = await open(disk);
  const agent = await open(disk);
  await runSimpleTurn(agent, coder, 'a');
  const ended: number[] = [];
  const ending = async () => void ended.push((await agent.read(coder)).messages.length);
  expect(await rejectionOf(orchestrator.reset(coder, ending))).toMatchObject({ code: 'E_LOCKED' });
  await agent.close(coder);
  await orchestrator.open(coder, 'turn-b');
  expect(await rejectionOf(orchestrator.reset(coder, ending))).toMatchObject({ code: 'E_STORE_ORDER' });
  expect(ended).toEqual([]);
  await orchestrator.close(coder);
  await orchestrator.reset(coder, ending);
  await orchestrator.reset({ ...coder, instanceKey: 'none' }, ending);
  expect([ended, (await orchestrator.read(coder)).messages]).toEqual([[2, 0], []]);
});

test('R-07 a reset conversation has no messages and no extension state, and continues from there', async () => {
  const disk = SimulatedDisk.empty();
  const orchestrator = await open(disk);
  const agent = await open(disk);
  await runSimpleTurn(agent, coder, 'a', { extensionState: { memo: 1, other: 2 }, error: { message: 'no' } });
  await agent.close(coder);
  await orchestrator.reset(coder);
  expect(await orchestrator.read(coder)).toEqual({ version: 2, stateVersion: 2, messages: [], extensionState: {} });
  expect(await disk.list(`${folder}/extensions`)).toEqual([]);
  expect(await disk.stat(`${folder}/messages/base.jsonl`)).toBeUndefined();
  expect((await bytesOf(disk, `${folder}/metadata.json`)).toString()).toContain('"status":"idle"');

  const opened = await agent.open(coder, 'turn-b');
  expect([opened.version, opened.log, opened.extensionState]).toEqual([2, [], {}]);
  expect(await opened.loadBase()).toEqual([]);
  await runSimpleTurn(agent, coder, 'b');
  const again = await open(disk, 2);
  expect(ids((await again.read(coder)).messages)).toEqual(['input-b', 'answer-b']);
  expect((await again.open(coder, 'turn-a')).finished?.turnId).toBe('turn-a');
});

test('the archive keeps everything, and gives the conversation at every moment, also across resets', async () => {
  const journal = await open(SimulatedDisk.empty());
  const seen: (readonly Message[])[] = [];
  for (const id of ['a', 'b', 'reset', 'c', 'reset', 'd']) {
    await (id === 'reset' ? journal.reset(coder) : runSimpleTurn(journal, coder, id));
    seen.push((await journal.read(coder)).messages);
  }
  expect(seen.map((messages) => messages.length)).toEqual([2, 4, 0, 2, 0, 2]);
  const replayed: (readonly Message[])[] = [];
  const names: string[] = [];
  for await (const { turnId, version, events, result } of journal.archive(coder)) {
    names.push(`${version} ${turnId} ${typeof result === 'string' ? result : result.finishReason}`);
    if (result === 'reset') {
      expect(events).toMatchObject([{ event: { type: 'truncate' }, author: { kind: 'runtime' }, counts: true }]);
    }
    replayed.push(
      fold(
        replayed.at(-1) ?? [],
        events.map(({ event }) => event),
      ),
    );
  }
  expect(replayed).toEqual(seen);
  expect(names.filter((name) => name.endsWith('reset'))).toEqual(['3 reset-3 reset', '5 reset-5 reset']);
});

test('pending input stays, and an interrupted turn starts again from its event', async () => {
  const disk = SimulatedDisk.empty();
  const orchestrator = await open(disk);
  const agent = await open(disk);
  await accept(orchestrator, 'a', 'b', 'c');
  await runSimpleTurn(agent, coder, 'a');
  await agent.close();
  await interrupt(disk, 'b');
  await orchestrator.reset(coder);
  expect((await orchestrator.pendingEntries(coder)).map(({ seq, event }) => [seq, event.id])).toEqual([
    [2, 'b'],
    [3, 'c'],
  ]);
  const again = await open(disk, 2);
  expect((await again.open(coder, 'turn-b')).log).toEqual([]);
  await runSimpleTurn(again, coder, 'b');
  await runSimpleTurn(again, coder, 'c');
  expect(ids((await again.read(coder)).messages)).toEqual(['input-b', 'answer-b', 'input-c', 'answer-c']);
  expect(await again.pending(coder)).toEqual([]);
});

test('answers and dead letters stay', async () => {
  const journal = await open(SimulatedDisk.empty());
  await journal.accept(coder, simpleEvent('a', { replyTo: { target: 'client', correlationId: '1' } }));
  await runSimpleTurn(journal, coder, 'a', { error: { code: 'E_DEAD_LETTER', message: 'no' } });
  await journal.reset(coder);
  expect((await journal.outbox.pending(coder)).map(({ key }) => key)).toEqual(['turn-a']);
  expect((await journal.deadLetters.list(coder)).map(({ event }) => event.id)).toEqual(['a']);
});

test('is rejected while another process owns the instance, and releases the lock', async () => {
  const disk = SimulatedDisk.empty();
  const orchestrator = await open(disk);
  const agent = await open(disk);
  await runSimpleTurn(agent, coder, 'a');
  expect(await rejectionOf(orchestrator.reset(coder))).toMatchObject({ code: 'E_LOCKED' });
  expect((await agent.read(coder)).messages.length).toBe(2);
  await agent.close();
  await Promise.all([orchestrator.reset(coder), orchestrator.reset(coder)]);
  await runSimpleTurn(agent, coder, 'b');
  expect(ids((await orchestrator.read(coder)).messages)).toEqual(['input-b', 'answer-b']);
});

test('a process with the open instance keeps it, but cannot reset during a turn', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await runSimpleTurn(journal, coder, 'a');
  const { epoch } = await journal.open(coder, 'turn-b');
  expect(await rejectionOf(journal.reset(coder))).toMatchObject({ code: 'E_STORE_ORDER' });
  await journal.append(coder, epoch, 0, simpleRecords('b'));
  const result = { turnId: 'turn-b', finishReason: 'text_response' } as const;
  await journal.commit(coder, epoch, 'turn-b', { type: 'append', messages: [] }, {}, result);
  await journal.reset(coder);
  expect(await rejectionOf((await open(disk)).open(coder, 'turn-c'))).toMatchObject({ code: 'E_LOCKED' });
});

test('does nothing to an empty conversation', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await journal.reset(coder);
  expect(await disk.stat(folder)).toBeUndefined();
  await accept(journal, 'a');
  await journal.reset(coder);
  expect((await journal.read(coder)).version).toBe(0);
  await runSimpleTurn(journal, coder, 'a');
  await journal.reset(coder);
  await journal.reset(coder);
  expect((await journal.read(coder)).version).toBe(2);
});

test.each([
  ['reset', (journal: Journal) => journal.reset(coder)],
  ['hasWork', (journal: Journal) => journal.hasWork(coder)],
  ['pending', (journal: Journal) => journal.pending(coder)],
  ['accept', (journal: Journal) => accept(journal, 'b')],
  ['close', (journal: Journal) => journal.close(coder)],
] as const)('a failed release of the lock is reported, and repeated at the next use: %s', async (_, use) => {
  const disk = SimulatedDisk.empty();
  let isBroken = false;
  const remove: Fs['remove'] = async (path) => {
    if (isBroken && path === `${folder}/lock`) throw systemError('EIO');
    await disk.remove(path);
  };
  const orchestrator = await open({ ...failingFs(disk, () => undefined), remove });
  const agent = await open(disk);
  await runSimpleTurn(agent, coder, 'a');
  await agent.close();
  isBroken = true;
  expect(await rejectionOf(orchestrator.reset(coder))).toMatchObject({ code: 'E_STORE_WRITE' });
  await orchestrator.close(coder);
  expect((await agent.read(coder)).messages).toEqual([]);
  expect(await rejectionOf(agent.open(coder, 'turn-b'))).toMatchObject({ code: 'E_LOCKED' });
  isBroken = false;
  await use(orchestrator);
  await runSimpleTurn(agent, coder, 'b');
});

test('a reset is committed even if the checkpoint after it fails, and the next checkpoint includes it', async () => {
  const disk = SimulatedDisk.empty();
  const agent = await open(disk);
  await runSimpleTurn(agent, coder, 'a', { extensionState: { memo: 1 } });
  await agent.close();
  let isBroken = true;
  const calm = failingFs(disk, () => undefined);
  const rename: Fs['rename'] = (from, to) =>
    isBroken && to.endsWith('metadata.json') ? Promise.reject(systemError('EIO')) : calm.rename(from, to);
  const orchestrator = await open({ ...calm, rename });
  await orchestrator.reset(coder);
  expect(await agent.read(coder)).toEqual({ version: 2, stateVersion: 2, messages: [], extensionState: {} });
  expect((await disk.list(`${folder}/extensions`))?.length).toBe(1);
  isBroken = false;
  await orchestrator.recover(coder);
  await orchestrator.close(coder);
  expect(await agent.read(coder)).toEqual({ version: 2, stateVersion: 2, messages: [], extensionState: {} });
  expect(await disk.list(`${folder}/extensions`)).toEqual([]);
});

test('records cut by recovery do not come back behind a reset after a loss of power', async () => {
  const disk = SimulatedDisk.empty();
  const orchestrator = await open(disk);
  await accept(orchestrator, 'a');
  const agent = await open(disk);
  const { epoch } = await agent.open(coder, 'turn-a');
  const [input, answer] = simpleRecords('a');
  await agent.append(coder, epoch, 0, [input]);
  const path = `${folder}/messages/events.jsonl`;
  const before = (await bytesOf(disk, path)).toString().replace(/\0+$/, '').length;
  await agent.append(coder, epoch, 1, [answer, ...Array.from({ length: 5 }, () => ({ type: 'resumed' }) as const)]);
  // This simulates a crash that kept only the beginning of the second frame.
  const events = await disk.openRoom(path);
  await events.truncate(before + 40);
  await events.extend(8192);
  await events.sync();

  await (await open(disk, 2)).reset(coder);
  for (let seed = 0; seed < 50; seed += 1) {
    const after = await open(disk.crash('power', seededRandom(seed)), 3);
    expect((await after.open(coder, 'turn-a')).log).toEqual([]);
  }
});

test('a reset empties a base that has a file', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openJournal(simulatedMachine(disk, 1), simulatedLocation, {
    ...defaultLimits,
    shortBaseBytes: 0,
  });
  await runSimpleTurn(journal, coder, 'a');
  await journal.close(coder);
  expect((await disk.stat(`${folder}/messages/base.jsonl`))?.size).toBeGreaterThan(0);
  await journal.reset(coder);
  expect((await disk.stat(`${folder}/messages/base.jsonl`))?.size).toBe(0);
});
