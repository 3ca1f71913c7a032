/** Damage of the inbox log, and damage of one instance, stay what they are over compactions and restarts. */
import { expect, test } from 'bun:test';
import type { Fs } from '../../ports/fs.ts';
import type { Journal } from '../journal/journal.ts';
import { systemError } from '../simulation/failing-fs.ts';
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
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';

const folder = '/state/workspaces/simulation/inbox';
const short = { inboxCompactionBytes: 600 };

/** Handles ten events of another conversation, so that segments fill up. */
async function fill(journal: Journal, life: number): Promise<void> {
  for (let index = 0; index < 10; index += 1) await handleInput(journal, at('busy'), `busy-${life}-${index}`);
}

/** Changes one byte of the line that has this text. Returns the name of its segment. */
async function damageLine(disk: SimulatedDisk, text: string): Promise<string | undefined> {
  for (const name of (await disk.list(folder)) ?? []) {
    const place = (await bytesOf(disk, `${folder}/${name}`)).indexOf(text);
    if (place === -1) continue;
    const file = await disk.openRoom(`${folder}/${name}`);
    await file.write(place, Uint8Array.of(0x7e));
    await file.sync();
    await file.close();
    return name;
  }
  return undefined;
}

test('a damaged line is reported after any number of compactions and restarts', async () => {
  const disk = SimulatedDisk.empty();
  let journal = await open(disk, 1, short);
  await handleInput(journal, at('x'), 'x1');
  await journal.accept(at('x'), simpleEvent('x2'));
  await journal.accept(at('y'), simpleEvent('y1'));
  await journal.close();
  const damaged = await damageLine(disk, 'input of x2');
  for (const life of [2, 3, 4, 5]) {
    journal = await openOwner(disk, life, short);
    for (const half of [1, 2]) {
      const accepting = journal.accept(at('x'), simpleEvent('x3'));
      expect(await rejectionOf(accepting)).toMatchObject({ code: 'E_STORE_CORRUPT' });
      await fill(journal, 10 * life + half);
    }
    expect(ids(await journal.pending(at('y')))).toEqual(['y1']);
    await journal.close();
  }
  const names = (await disk.list(folder)) ?? [];
  expect(names).not.toContain(damaged);
  // Only the damaged file was copied, once.
  expect(names.filter((name) => name.includes('.corrupt-'))).toHaveLength(1);
});

test('a line without a name that the table of its segment reports stays reported when the segment is removed', async () => {
  const disk = SimulatedDisk.empty();
  let journal = await open(disk, 1, { inboxCompactionBytes: 1300 });
  for (const key of ['a', 'b', 'c']) await journal.accept(at(key), simpleEvent(`${key}1`));
  // The last one is in the next segment.
  for (const id of ['a2', 'a3', 'a4']) await journal.accept(at('a'), simpleEvent(id));
  await journal.close();
  const path = `${folder}/inbox.000001.jsonl`;
  const bytes = await bytesOf(disk, path);
  const lineOf = (id: string) => bytes.lastIndexOf(0x0a, bytes.indexOf(`input of ${id}`));
  // The line of `b`, and the start of the next line, which has the name of the line before it.
  bytes.fill(0x7e, lineOf('b1') + 1, lineOf('c1') + 60);
  await overwrite(disk, path, bytes);
  for (const life of [2, 3, 4]) {
    journal = await openOwner(disk, life, { inboxCompactionBytes: 1300 });
    for (const key of ['b', 'c'])
      expect(await rejectionOf(journal.pending(at(key)))).toMatchObject({ code: 'E_STORE_CORRUPT' });
    expect(ids(await journal.pending(at('a')))).toEqual(['a1', 'a2', 'a3', 'a4']);
    await fill(journal, life);
    await journal.close();
  }
});

test('after damage without a name, zeros from the first damaged line to the end give up the input after it', async () => {
  const disk = SimulatedDisk.empty();
  const first = await open(disk, 1);
  await handleInput(first, at('a'), 'a0');
  for (const key of ['a', 'b', 'c', 'd']) await first.accept(at(key), simpleEvent(`${key}1`));
  await first.close();
  const path = `${folder}/inbox.000001.jsonl`;
  const bytes = await bytesOf(disk, path);
  const lineOf = (id: string) => bytes.lastIndexOf(0x0a, bytes.indexOf(`input of ${id}`)) + 1;
  const start = lineOf('b1');
  bytes.fill(0x7e, start, lineOf('c1') + 200);
  await overwrite(disk, path, bytes);
  const owner = await openOwner(disk, 2);
  const accepting = owner.accept(at('a'), simpleEvent('a2'));
  expect(await rejectionOf(accepting)).toMatchObject({ code: 'E_STORE_CORRUPT' });
  await owner.close();
  // The owner has begun a second segment, without input in it. It is removed together with the damage.
  await disk.remove(`${folder}/inbox.000002.jsonl`);
  await overwrite(disk, path, bytes.fill(0, start));
  const next = await open(disk, 3);
  expect(ids(await next.pending(at('a')))).toEqual(['a1']);
  for (const key of ['a', 'b', 'c', 'd', 'new'])
    expect((await next.accept(at(key), simpleEvent(`${key}2`))).duplicate).toBe(false);
  await next.close();
  expect(ids(await (await open(disk, 4)).pending(at('b')))).toEqual(['b2']);
});

test('an undamaged log is never reported: deletion, new input, restarts and compactions', async () => {
  const disk = SimulatedDisk.empty();
  let journal = await open(disk, 1, short);
  await journal.accept(at('x'), simpleEvent('x1'));
  await journal.delete(at('x'), { force: true });
  await journal.accept(at('x'), simpleEvent('x2'));
  for (const life of [2, 3, 4, 5]) {
    await fill(journal, life);
    await journal.close();
    journal = await openOwner(disk, life, short);
    expect(ids(await journal.pending(at('x')))).toEqual(['x2']);
  }
});

test.each([20, 500, 1024])(
  'damage concerns one conversation although another has a key of %i characters',
  async (length) => {
    const disk = SimulatedDisk.empty();
    const long = 'k'.repeat(length);
    const first = await open(disk, 1);
    for (const [key, id] of [
      ['a', 'a1'],
      ['b', 'b1'],
      [long, 'l1'],
    ] as const)
      await first.accept(at(key), simpleEvent(id));
    await first.close();
    await damageLine(disk, 'input of a1');
    for (const life of [2, 3, 4]) {
      const journal = await openOwner(disk, life);
      expect(await rejectionOf(journal.pending(at('a')))).toMatchObject({ code: 'E_STORE_CORRUPT' });
      expect(ids(await journal.pending(at('b')))).toEqual(['b1']);
      expect(ids(await journal.pending(at(long)))).toEqual(['l1']);
      expect((await journal.accept(at(`new-${life}`), simpleEvent('n'))).duplicate).toBe(false);
      await journal.close();
    }
  },
);

/** A disk on which the log of one instance can be read, but not be opened for writing. */
function closedTo(disk: SimulatedDisk, key: string, code: string): Fs {
  return new Proxy(disk, {
    get(target, name) {
      if (name === 'openRoom')
        return (path: string) =>
          path.includes(`~${key}/`) ? Promise.reject(systemError(code)) : target.openRoom(path);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test.each(['EACCES', 'ENOENT', 'EIO'])(
  'an instance whose log cannot be synced (%s) keeps its input, and all others go on',
  async (code) => {
    const disk = SimulatedDisk.empty();
    const first = await open(disk, 1, short);
    await first.accept(at('x'), simpleEvent('x1'));
    const agent = await open(disk, 1, short);
    await runSimpleTurn(agent, at('x'), 'x1');
    await agent.close();
    await first.close();
    const journal = await openOwner(closedTo(disk, 'x', code), 2, short);
    await fill(journal, 2);
    // The commit is not known to be durable, so the event is still in the log. It is not handled again.
    expect(ids(await journal.pending(at('x')))).toEqual([]);
    let text = '';
    for (const name of (await disk.list(folder)) ?? []) text += await bytesOf(disk, `${folder}/${name}`);
    expect(text).toContain('input of x1');
  },
);
