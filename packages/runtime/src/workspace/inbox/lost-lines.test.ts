/** Input that is lost stays reported, whenever a crash happens, and input that is there is not reported. */
import { describe, expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import { samples } from '../../../../../test/samples.ts';
import { InstanceSlots } from '../journal/instance-slots.ts';
import { type Journal, openJournal } from '../journal/journal.ts';
import { defaultLimits } from '../limits.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { gatedFs } from '../simulation/busy-workspace.ts';
import { failingFs } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { type CrashMode, SimulatedDisk } from '../simulation/simulated-disk.ts';
import {
  at,
  bytesOf,
  handleInput,
  momentsOf,
  openOwner as open,
  openSimulated,
} from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { messagesOf, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { WorkspaceInbox } from './workspace-inbox.ts';

const workspace = '/state/workspaces/simulation';
const folder = `${workspace}/inbox`;
const segment = `${folder}/inbox.000001.jsonl`;
const lost = { code: 'E_STORE_CORRUPT', message: expect.stringContaining('of this instance') };

/** Makes a workspace in which the second turn of `x` is interrupted. The input of `done` is handled. */
async function makeInterrupted(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk, 1);
  for (const key of ['x', 'done']) await handleInput(journal, at(key), `${key}1`);
  await journal.accept(at('x'), simpleEvent('x2'));
  const entry = (await journal.pendingEntries(at('x'))).find(({ event }) => event.id === 'x2');
  const { epoch } = await journal.open(at('x'), 'turn-x2', entry);
  await journal.append(at('x'), epoch, 0, simpleRecords('x2').slice(0, 1));
  await journal.close();
  // The begin of the turn is durable, so a loss of power does not take it away.
  const log = await disk.openRoom(`${workspace}/instances/coder~x/messages/events.jsonl`);
  await log.sync();
  await log.close();
  return disk;
}

/** Ends the interrupted turn. */
async function endTurn(journal: Journal): Promise<void> {
  const [entry] = await journal.pendingEntries(at('x'));
  const { epoch } = await journal.open(at('x'), 'turn-x2', entry);
  const records = simpleRecords('x2');
  await journal.append(at('x'), epoch, 1, records.slice(1));
  const changes = { type: 'append', messages: messagesOf(records) } as const;
  await journal.commit(at('x'), epoch, 'turn-x2', changes, {}, { turnId: 'turn-x2', finishReason: 'text_response' });
}

/** Replaces the last line, with the interrupted input, by zeros. */
async function loseLine(disk: SimulatedDisk): Promise<void> {
  const bytes = await bytesOf(disk, segment);
  bytes.fill(0, bytes.lastIndexOf(0x0a, bytes.indexOf('input of x2')) + 1);
  await replaceFile(disk, segment, bytes);
}

async function removeLog(disk: SimulatedDisk): Promise<void> {
  for (const name of (await disk.list(folder)) ?? []) await disk.remove(`${folder}/${name}`);
}

test('a log that was removed stays reported if the process that noticed it was killed before it wrote any input', async () => {
  const disk = await makeInterrupted();
  await removeLog(disk);
  for (const life of [2, 3, 4]) {
    // Nothing closes this journal.
    const journal = await open(disk, life);
    for (const key of ['x', 'done']) {
      expect(await rejectionOf(journal.pending(at(key)))).toMatchObject(lost);
      expect(await rejectionOf(journal.accept(at(key), simpleEvent('next')))).toMatchObject(lost);
    }
  }
});

test('the error of input of a log that was removed says where the new log ends, because nobody has a copy', async () => {
  const disk = await makeInterrupted();
  await removeLog(disk);
  await (await open(disk, 2)).close();
  const end = (await bytesOf(disk, segment)).lastIndexOf(0x0a) + 1;
  const message = expect.stringContaining(`, its last line ends at byte ${end})`);
  expect(await rejectionOf((await open(disk, 3)).pending(at('done')))).toMatchObject({ message });
});

describe('a torn end of the inbox log', () => {
  const cutOff = { path: segment, message: expect.stringContaining('its end was cut off after byte') };

  /** Makes a workspace whose log ends with the first half of another line of `x`, as a crash leaves it. */
  async function makeTorn(): Promise<SimulatedDisk> {
    const disk = await makeInterrupted();
    const bytes = await bytesOf(disk, segment);
    const end = bytes.lastIndexOf(0x0a) + 1;
    await (await open(disk, 2)).accept(at('x'), simpleEvent('x3'));
    const longer = await bytesOf(disk, segment);
    longer.fill(0, end + 150);
    expect(longer.includes('"to":["coder","x"]', end)).toBe(true);
    await replaceFile(disk, segment, longer);
    return disk;
  }

  async function openWarned(disk: SimulatedDisk) {
    const machine = simulatedMachine(disk, 3);
    const journal = await openJournal(machine, simulatedLocation);
    await journal.openInbox();
    return { journal, warnings: machine.warnings };
  }

  test('is cut off with a warning, although the instance it names has begun the line before it', async () => {
    const { journal, warnings } = await openWarned(await makeTorn());
    expect(warnings).toEqual([cutOff]);
    expect((await journal.pending(at('x'))).map(({ id }) => id)).toEqual(['x2']);
    expect(await journal.accept(at('x'), simpleEvent('next'))).toMatchObject({ duplicate: false, seq: 3 });
    expect((await openWarned(await makeInterrupted())).warnings).toEqual([]);
  });

  test('is cut off although the log of the instance it names cannot be read, and the others answer', async () => {
    const disk = await makeTorn();
    const path = `${workspace}/instances/coder~x/messages/events.jsonl`;
    const log = await bytesOf(disk, path);
    log.fill(0x7e, 0, 200);
    await replaceFile(disk, path, log);
    const { journal, warnings } = await openWarned(disk);
    expect(warnings).toContainEqual(cutOff);
    expect(await journal.accept(at('done'), simpleEvent('next'))).toMatchObject({ duplicate: false });
    expect(await rejectionOf(journal.accept(at('x'), simpleEvent('next')))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  });
});

test('a process that only reads finds no damage if the turn is committed between its reads', async () => {
  const disk = await makeInterrupted();
  const owner = await open(disk, 2);
  let commits = 0;
  const fs = gatedFs(
    failingFs(disk, () => undefined),
    async (operation, path) => {
      if (operation !== 'list' || path !== folder || commits++ > 0) return;
      await endTurn(owner);
      owner.handled(at('x'), 'x2');
      // The erased input of a deleted conversation takes the handled input out of the files.
      await owner.delete(at('done'), { force: true });
    },
  );
  const reader = await openSimulated(fs, 2);
  expect(await reader.pending(at('x'))).toEqual([]);
  expect(commits).toBeGreaterThan(1);
});

test('the input of a deleted instance is erased once', async () => {
  const disk = await makeInterrupted();
  const ports = simulatedMachine(disk, 2);
  const slots = new InstanceSlots(ports, simulatedLocation, defaultLimits);
  const storedAt = (address: AgentAddress) => slots.storedAt(address);
  const inbox = await new WorkspaceInbox({
    ...ports,
    workspace,
    limits: defaultLimits,
    pace: slots.pace,
    storedAt,
  }).open();
  await inbox.endDeletion(at('x'), true);
  await inbox.eraseDeleted();
  const names = await disk.list(folder);
  expect(names).not.toContain('inbox.000001.jsonl');
  await inbox.eraseDeleted();
  expect(await disk.list(folder)).toEqual(names);
});

describe('a reset of a conversation with an interrupted turn', () => {
  test.each<CrashMode>(['kill', 'power'])(
    'forgets lost input at no moment at which a crash may happen: %s',
    async (mode) => {
      const disk = await makeInterrupted();
      await loseLine(disk);
      const journal = await open(disk, 2);
      // The first write is that of the inbox. A reset that does not wait for it is done before it is durable.
      const ticks = [5000];
      disk.syncTicks = () => ticks.pop() ?? 0;
      const moments = await momentsOf(disk, () => journal.reset(at('x')));
      disk.syncTicks = () => 0;
      expect(moments.length).toBeGreaterThan(5);
      let resets = 0;
      for (const [index, moment] of moments.entries()) {
        for (let seed = 0; seed < samples(10); seed += 1) {
          const next = await open(moment.crash(mode, seededRandom(index, seed)), 3);
          expect(await rejectionOf(next.accept(at('x'), simpleEvent('next')))).toMatchObject(lost);
          resets += (await next.read(at('x'))).messages.length === 0 ? 1 : 0;
        }
      }
      expect(resets).toBeGreaterThan(0);
    },
  );

  test('writes nothing into the inbox if its input is there', async () => {
    const disk = await makeInterrupted();
    const journal = await open(disk, 2);
    const before = await disk.read(segment);
    await journal.reset(at('x'));
    expect(await disk.read(segment)).toEqual(before);
    expect((await journal.pending(at('x'))).map(({ id }) => id)).toEqual(['x2']);
  });
});
