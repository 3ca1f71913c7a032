import { expect, test } from 'bun:test';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { until } from '../../../../../test/until.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';
import { systemClock } from '../../ports/clock.ts';
import { readIndex } from '../records/instance-index.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { defaultLimits } from '../limits.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { durableStore } from './durable-store.ts';
import { IndexNotes } from './index-notes.ts';

const temporary = temporaryFolder();
const key = (number: number) => ({ agentName: 'coder', instanceKey: `key ${number}` });

/** Runs a turn in each of three conversations and closes them. */
async function talk(limits = {}) {
  const stateRoot = mkdtempSync(join(temporary, 'root-'));
  const workspace = join(stateRoot, 'workspaces/w');
  const journal = await durableStore({ stateRoot, workspaceId: 'w', limits });
  for (let number = 0; number < 3; number += 1) await runSimpleTurn(journal, key(number), `e${number}`);
  await journal.close();
  return { stateRoot, workspace, index: join(workspace, 'instances.jsonl'), journal };
}

/** Lists all instances with their counts, and the files that were read for it. */
async function list(stateRoot: string) {
  const read: string[] = [];
  const fs: Fs = { ...systemFs, read: (path, ...rest) => (read.push(path), systemFs.read(path, ...rest)) };
  const journal = await durableStore({ stateRoot, workspaceId: 'w', fs });
  const addresses = await journal.instances();
  const counts = await Promise.all(
    addresses.map(async (at) => [at.instanceKey, await journal.summary(at).catch((error: unknown) => error)] as const),
  );
  await journal.close();
  const names = read.map((path) => path.slice(path.lastIndexOf('/') + 1));
  return {
    summaries: Object.fromEntries(counts),
    read: names.filter((name) => name === 'metadata.json' || name === 'events.jsonl'),
  };
}

const two = expect.objectContaining({ messages: 2, deadLetters: 0, pending: 0, updatedAt: expect.any(Date) });
const all = { 'key 0': two, 'key 1': two, 'key 2': two };

test('a list of closed conversations reads the index, and no file of a conversation', async () => {
  const { stateRoot } = await talk();
  expect(await list(stateRoot)).toEqual({ summaries: all, read: [] });
});

test.each([
  ['missing', (path: string) => rmSync(path)],
  ['torn', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, -30))],
  [
    'damaged',
    (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"messages":2', '"messages":3')),
  ],
  ['of another version', (path: string) => writeFileSync(path, '{}\n[]\nnull\n')],
] as const)('the counts come from the conversations where the index is %s', async (_, harm) => {
  const { stateRoot, index } = await talk();
  harm(index);
  const { summaries, read } = await list(stateRoot);
  expect(summaries).toEqual(all);
  expect(read.length).toBeGreaterThan(1);
});

test.each(['metadata.json', 'messages/events.jsonl'])('a conversation whose %s was changed is read', async (name) => {
  const { stateRoot, workspace } = await talk();
  const [folder = ''] = readdirSync(join(workspace, 'instances'));
  const path = join(workspace, 'instances', folder, name);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const { summaries } = await list(stateRoot);
  const damaged = Object.values(summaries).filter((each) => each instanceof Error);
  // The frames of a closed log are before its checkpoint, so only the history needs them.
  expect(damaged).toHaveLength(name === 'metadata.json' ? 1 : 0);
});

test('a deleted conversation is not listed, and one that came back is counted anew', async () => {
  const { stateRoot } = await talk();
  const journal = await durableStore({ stateRoot, workspaceId: 'w' });
  await journal.delete(key(0));
  await journal.delete(key(1));
  await runSimpleTurn(journal, key(1), 'x');
  await runSimpleTurn(journal, key(1), 'y');
  await runSimpleTurn(journal, key(2), 'z');
  // Nothing is closed yet: the counts of open conversations are those of the last commit.
  const four = expect.objectContaining({ messages: 4 });
  expect((await list(stateRoot)).summaries).toEqual({ 'key 1': four, 'key 2': four });
  await journal.close();
  expect(await list(stateRoot)).toEqual({ summaries: { 'key 1': four, 'key 2': four }, read: [] });
});

test('an open conversation gets into the index when it is quiet, and a turn after that is seen', async () => {
  const { stateRoot } = await talk();
  const timers: (() => void)[] = [];
  const clock = {
    now: () => new Date(Date.now() + 1000),
    elapsed: () => performance.now(),
    after: (_: number, action: () => void) => (timers.push(action), () => undefined),
  };
  const journal = await durableStore({ stateRoot, workspaceId: 'w', clock });
  await runSimpleTurn(journal, key(0), 'more');
  expect(timers).toHaveLength(1);
  for (const timer of timers.splice(0)) timer();
  await until(async () => (await list(stateRoot)).read.length === 0);
  await runSimpleTurn(journal, key(0), 'again');
  const { summaries, read } = await list(stateRoot);
  expect(summaries).toMatchObject({ 'key 0': { messages: 6 } });
  expect(read.length).toBeGreaterThan(0);
  await journal.close();
});

test('the index is compacted when it has grown, and keeps the newest line of each conversation that exists', async () => {
  const { stateRoot, index, journal } = await talk();
  const line = readFileSync(index, 'utf8').split('\n')[0] ?? '';
  appendFileSync(index, `${line}\n`.repeat(100));
  await journal.delete(key(1));
  const again = await durableStore({ stateRoot, workspaceId: 'w', limits: { indexBytes: 2000 } });
  await runSimpleTurn(again, key(0), 'more');
  await again.close();
  const [head = '', ...lines] = readFileSync(index, 'utf8').trim().split('\n');
  expect([head.includes('compactedBytes'), lines.length]).toEqual([true, 2]);
  // The file is not compacted again before it is twice as long.
  const { ino } = statSync(index);
  const third = await durableStore({ stateRoot, workspaceId: 'w', limits: { indexBytes: 10 } });
  await runSimpleTurn(third, key(2), 'more');
  await third.close();
  expect(statSync(index).ino).toBe(ino);
  expect(statSync(index).mode & 0o777).toBe(0o600);
  expect(await list(stateRoot)).toMatchObject({
    summaries: { 'key 0': { messages: 4 }, 'key 2': { messages: 4 } },
    read: [],
  });
});

/** Runs a turn with an index that is due to be compacted; `meanwhile` runs when the compacted copy is written. */
async function compactWith(stateRoot: string, index: string, meanwhile: () => void) {
  const fs: Fs = {
    ...systemFs,
    async createNew(path, bytes) {
      const isNew = await systemFs.createNew(path, bytes);
      if (path.startsWith(`${index}.`)) meanwhile();
      return isNew;
    },
  };
  const journal = await durableStore({ stateRoot, workspaceId: 'w', fs, limits: { indexBytes: 10 } });
  await runSimpleTurn(journal, key(0), 'more');
  await journal.close();
}

test('lines that another process appends while the index is compacted are kept', async () => {
  const { stateRoot, index } = await talk();
  const lines = readFileSync(index, 'utf8').trim().split('\n');
  const last = `${lines.find((line) => line.includes('key 2'))}\n`;
  writeFileSync(index, lines.filter((line) => !line.includes('key 2')).join('\n') + '\n');
  const { ino } = statSync(index);
  await compactWith(stateRoot, index, () => appendFileSync(index, last));
  expect(statSync(index).ino).not.toBe(ino);
  expect(await list(stateRoot)).toMatchObject({ summaries: { 'key 0': { messages: 4 }, 'key 2': two }, read: [] });
});

test('the second of two processes that compact the index at the same time gives up', async () => {
  const { stateRoot, index, workspace } = await talk();
  let written = '';
  await compactWith(stateRoot, index, () => {
    written = readFileSync(index, 'utf8');
    writeFileSync(`${index}.other`, written);
    renameSync(`${index}.other`, index);
  });
  expect(readFileSync(index, 'utf8')).toBe(written);
  expect(readdirSync(workspace).filter((name) => name.startsWith('instances.jsonl'))).toEqual(['instances.jsonl']);
  expect(await list(stateRoot)).toMatchObject({ summaries: { 'key 0': { messages: 4 } }, read: [] });
});

test('a line that was appended to a file that another process just replaced is appended again', async () => {
  const { stateRoot, index } = await talk();
  let isReplaced = false;
  const fs: Fs = {
    ...systemFs,
    async openFile(path) {
      const file = await systemFs.openFile(path);
      if (path !== index || isReplaced) return file;
      isReplaced = true;
      writeFileSync(`${index}.other`, readFileSync(index));
      renameSync(`${index}.other`, index);
      return file;
    },
  };
  const journal = await durableStore({ stateRoot, workspaceId: 'w', fs });
  await runSimpleTurn(journal, key(0), 'more');
  await journal.close();
  expect(await list(stateRoot)).toMatchObject({ summaries: { 'key 0': { messages: 4 } }, read: [] });
});

test('a list of many conversations looks at the inbox once', async () => {
  const { stateRoot, workspace } = await talk();
  const looks: string[] = [];
  const fs: Fs = { ...systemFs, list: (path) => (looks.push(path), systemFs.list(path)) };
  const journal = await durableStore({ stateRoot, workspaceId: 'w', fs });
  await journal.accept(key(0), simpleEvent('e'));
  await journal.close();
  const reader = await durableStore({ stateRoot, workspaceId: 'w', fs });
  const addresses = await reader.instances();
  looks.length = 0;
  const summaries = await Promise.all(addresses.map((at) => reader.summary(at)));
  expect(summaries.filter(({ pending }) => pending === 1)).toHaveLength(1);
  expect(looks.filter((path) => path.startsWith(join(workspace, 'inbox')))).toHaveLength(1);
  await reader.close();
});

test('a disk that rejects the index rejects no turn', async () => {
  const { stateRoot } = await talk();
  const fs: Fs = {
    ...systemFs,
    openFile: (path) =>
      path.endsWith('instances.jsonl') ? Promise.reject(new Error('no space')) : systemFs.openFile(path),
  };
  const journal = await durableStore({ stateRoot, workspaceId: 'w', fs });
  await runSimpleTurn(journal, key(0), 'more');
  await journal.close();
  expect((await list(stateRoot)).summaries).toMatchObject({ 'key 0': { messages: 4 } });
  expect(await rejectionOf(journal.delete(key(9)))).toMatchObject({ code: 'E_INSTANCE_UNKNOWN' });
});

test('an instance that cannot be described does not take the lines of the others along', async () => {
  const root = mkdtempSync(join(temporary, 'root-'));
  const path = join(root, 'instances.jsonl');
  const place = { fs: systemFs, clock: systemClock, path, instances: root, limits: { indexBytes: 1_000_000 } };
  const notes = new IndexNotes(place);
  for (let number = 0; number < 3; number += 1) {
    notes.add(`coder~${number}`, async () => {
      if (number === 1) throw new Error('no disk');
      const counts = { messages: 1, deadLetters: 0, inbox: 1, createdAt: '', updatedAt: 1 };
      return { agentName: 'coder', instanceKey: String(number), ...counts, stamp: '-' };
    });
  }
  await notes.close();
  expect([...(await readIndex(systemFs, path)).keys()]).toEqual(['coder~0', 'coder~2']);
});

test('a draft that a kill left is replaced by the next compaction', async () => {
  const { workspace, index, stateRoot } = await talk({ indexBytes: 0 });
  writeFileSync(`${index}.next`, 'draft');
  const journal = await durableStore({ stateRoot, workspaceId: 'w', limits: { indexBytes: 0 } });
  for (let turn = 0; turn < 4; turn += 1) {
    await runSimpleTurn(journal, key(0), `more${turn}`);
    await journal.close();
  }
  expect(readdirSync(workspace).filter((name) => name.startsWith('instances.jsonl'))).toEqual(['instances.jsonl']);
  expect(readFileSync(index, 'utf8')).toContain('compactedBytes');
});

test('an instance that is busy is asked again later', async () => {
  const disk = SimulatedDisk.empty();
  const clock = manualClock();
  const place = { fs: disk, clock, path: '/instances.jsonl', instances: '/instances', limits: defaultLimits };
  const notes = new IndexNotes(place);
  const entry = { ...key(0), messages: 2, deadLetters: 0, inbox: 1, createdAt: '', updatedAt: 0, stamp: 's' };
  const answers = ['busy', 'busy', entry] as const;
  let asked = 0;
  notes.add('coder~key', async () => answers[asked++]);
  for (const flushes of [1, 2, 3]) {
    expect((await readIndex(disk, place.path)).size).toBe(0);
    await clock.advance(500);
    // Lets the lines be written.
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(flushes);
  }
  expect([...(await readIndex(disk, place.path)).values()]).toMatchObject([entry]);
  await notes.close();
});

test('a folder without a log is not listed, although the index has its instance', async () => {
  const { stateRoot, workspace } = await talk();
  const [name = ''] = readdirSync(join(workspace, 'instances')).toSorted();
  rmSync(join(workspace, 'instances', name, 'messages'), { recursive: true });
  rmSync(join(workspace, 'instances', name, 'metadata.json'));
  expect(Object.keys((await list(stateRoot)).summaries).toSorted()).toEqual(['key 1', 'key 2']);
});
