/** Damaged files of the inbox log are kept for the person who repairs them. */
import { expect, test } from 'bun:test';
import { openJournal } from '../journal/journal.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { at, bytesOf, handleInput } from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { simpleEvent } from '../simulation/simulated-turn.ts';
import { KnownIds } from './handled-ids.ts';
import { InstanceInbox } from './instance-inbox.ts';
import { keyOf } from './read-inbox-log.ts';
import { type UsedInbox, UsedInboxes } from './used-inboxes.ts';

const folder = '/state/workspaces/simulation/inbox';
const path = `${folder}/inbox.000001.jsonl`;
const damage = { code: 'E_STORE_CORRUPT' };
const segments = async (disk: SimulatedDisk) =>
  ((await disk.list(folder)) ?? []).filter((name) => name.endsWith('jsonl'));

async function open(disk: SimulatedDisk, life: number, limits: Partial<StoreLimits> = {}) {
  const machine = simulatedMachine(disk, life);
  const journal = await openJournal(machine, simulatedLocation, { ...defaultLimits, ...limits });
  await journal.openInbox();
  return { journal, machine };
}

/** Changes a byte of each line that has one of these texts. Returns the undamaged bytes. */
async function damageLines(disk: SimulatedDisk, ...texts: string[]): Promise<Buffer> {
  const whole = await bytesOf(disk, path);
  const changed = Buffer.from(whole);
  for (const text of texts) changed[whole.indexOf(text)] = 0x7e;
  await replaceFile(disk, path, changed);
  return whole;
}

test('a compaction keeps a copy of a damaged segment that nobody has reported yet', async () => {
  const disk = SimulatedDisk.empty();
  const short = { inboxCompactionBytes: 600 };
  const { journal: first } = await open(disk, 1, short);
  await first.accept(at('x'), simpleEvent('x1'));
  await first.close();
  await damageLines(disk, 'input of x1');
  const damaged = await disk.read(path);
  const { journal, machine } = await open(disk, 2, short);
  for (let index = 0; index < 10; index += 1) await handleInput(journal, at('busy'), `${index}`);
  // The log shows the path, a colon and the message.
  expect(machine.warnings).toEqual([{ path, message: expect.stringMatching(/^the line at byte \d+ is damaged$/) }]);
  expect(await disk.read(path)).toBeUndefined();
  const [copy, ...others] = ((await disk.list(folder)) ?? []).filter((name) => name.includes('.corrupt-'));
  expect(others).toEqual([]);
  expect(await disk.read(`${folder}/${copy}`)).toEqual(damaged);
  const message = expect.stringContaining(', copies of damaged files are beside it)');
  expect(await rejectionOf(journal.pending(at('x')))).toMatchObject({ ...damage, message });
});

test('while the newest segment is missing, a deletion removes no file, and the deleted key accepts input again, over a restart', async () => {
  const disk = SimulatedDisk.empty();
  const short = { inboxCompactionBytes: 900 };
  const { journal: first } = await open(disk, 1, short);
  for (let id = 1; id <= 12; id += 1) await first.accept(at(`${id}`), simpleEvent(`${id}`));
  await first.close();
  const [newest, ...before] = (await segments(disk)).toSorted().toReversed();
  expect(before.length).toBeGreaterThan(1);
  await disk.remove(`${folder}/${newest}`);
  const { journal, machine } = await open(disk, 2, short);
  expect(await rejectionOf(journal.accept(at('1'), simpleEvent('next')))).toMatchObject(damage);
  await journal.delete(at('1'), { force: true });
  expect(machine.warnings.map(({ message }) => message).join()).toContain('until its damaged files are repaired');
  expect(await segments(disk)).toEqual(expect.arrayContaining(before));
  expect(await journal.accept(at('1'), simpleEvent('next'))).toMatchObject({ duplicate: false });
  expect(await rejectionOf(journal.accept(at('12'), simpleEvent('next')))).toMatchObject(damage);
  await journal.close();
  const { journal: again } = await open(disk, 3, short);
  expect((await again.pending(at('1'))).map(({ id }) => id)).toEqual(['next']);
  // The whole file that is named in the error is being written, so a copy for each report would have no bound.
  for (const id of ['2', '3', '4']) {
    await again.accept(at('1'), simpleEvent(id));
    expect(await rejectionOf(again.accept(at('12'), simpleEvent('next')))).toMatchObject(damage);
  }
  expect(((await disk.list(folder)) ?? []).filter((name) => name.includes('.corrupt-'))).toEqual([]);
});

test('half a repair does not count: the log is opened again only when all lines are whole', async () => {
  const disk = SimulatedDisk.empty();
  const { journal: first } = await open(disk, 1);
  for (const key of ['a', 'b', 'c']) await first.accept(at(key), simpleEvent(`${key}1`));
  await first.close();
  const whole = await damageLines(disk, 'input of a1', 'input of b1');
  const { journal } = await open(disk, 2);
  for (const key of ['a', 'b']) expect(await rejectionOf(journal.pending(at(key)))).toMatchObject(damage);
  const before = await segments(disk);
  await replaceFile(disk, path, whole);
  await damageLines(disk, 'input of b1');
  for (const key of ['a', 'b', 'a', 'b']) {
    expect(await rejectionOf(journal.accept(at(key), simpleEvent('next')))).toMatchObject(damage);
    expect(await segments(disk)).toEqual(before);
  }
  await replaceFile(disk, path, whole);
  for (const key of ['a', 'b']) expect(await journal.pending(at(key))).toHaveLength(1);
});

test('an instance that a call is using is not forgotten, and after the call it may be', () => {
  const used = new UsedInboxes(2);
  const add = (key: string): UsedInbox => {
    const inbox = new InstanceInbox(at(key));
    // Safe: `UsedInboxes` does not read the place of an instance.
    const stored = {} as UsedInbox['stored'];
    const added = { inbox, stored, handled: new KnownIds([], 10), pending: new Map(), calls: 1 };
    used.add(keyOf(at(key)), added);
    return added;
  };
  const x = add('x');
  for (const key of ['a', 'b', 'c']) add(key).calls -= 1;
  expect(used.find(keyOf(at('x')))).toBe(x);
  expect(used.hold(keyOf(at('x')))).toBe(x);
  x.calls -= 2;
  for (const key of ['d', 'e', 'f']) add(key).calls -= 1;
  expect(used.find(keyOf(at('x')))).toBeUndefined();
});
