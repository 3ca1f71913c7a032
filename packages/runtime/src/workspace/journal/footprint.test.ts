import { expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import type { StoreLimits } from '../limits.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { runSimpleTurn } from '../simulation/simulated-turn.ts';
import { durableStore } from './durable-store.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const temporary = temporaryFolder();

interface Options {
  readonly root?: string;
  readonly limits?: Partial<StoreLimits>;
  readonly fs?: Fs;
}

async function open({ root = newRoot(), limits = {}, fs = systemFs }: Options = {}) {
  const journal = await durableStore({ stateRoot: root, workspaceId: 'w', fs, limits, warn: () => undefined });
  return { journal, root, folder: join(root, 'workspaces/w/instances/coder~default') };
}

/** The real disk. Calls `note` with the path of each sync. */
function notingFs(note: (path: string) => void): Fs {
  return {
    ...systemFs,
    syncFolder: (path) => (note(path), systemFs.syncFolder(path)),
    async openFile(path) {
      const file = await systemFs.openFile(path);
      return { ...file, sync: () => (note(path), file.sync()) };
    },
    async openRoom(path) {
      const file = await systemFs.openRoom(path);
      const writeThrough = (at: number, bytes: Uint8Array) => (note(path), file.writeThrough(at, bytes));
      return { ...file, writeThrough, sync: () => (note(path), file.sync()) };
    },
  };
}

function newRoot(): string {
  return mkdtempSync(join(temporary, 'root-'));
}

test('a closed conversation of one turn has two files, and one for each extension with a state', async () => {
  const { journal, folder } = await open();
  await runSimpleTurn(journal, coder, 'a');
  await journal.close();
  const list = () => readdirSync(folder, { recursive: true }).map(String).toSorted();
  expect(list()).toEqual(['messages', 'messages/events.jsonl', 'metadata.json']);
  await runSimpleTurn(journal, coder, 'b', { extensionState: { memo: 1 } });
  await journal.close();
  expect(list()).toEqual(['extensions', 'extensions/memo.json', 'messages', 'messages/events.jsonl', 'metadata.json']);
  for (const name of ['metadata.json', 'messages/events.jsonl'])
    expect(statSync(join(folder, name)).size).toBeLessThan(4096);
});

test('a base that is too long for the checkpoint gets a file, and stays there', async () => {
  const { journal, folder, root } = await open({ limits: { shortBaseBytes: 500 } });
  const base = join(folder, 'messages/base.jsonl');
  for (const [id, hasFile] of [
    ['a', false],
    ['b', true],
    ['c', true],
  ] as const) {
    await runSimpleTurn(journal, coder, id);
    await journal.close();
    expect([id, existsSync(base)]).toEqual([id, hasFile]);
  }
  expect(readFileSync(base, 'utf8').trim().split('\n')).toHaveLength(6);
  const { journal: again } = await open({ root });
  expect((await again.read(coder)).messages.map(({ id }) => id)).toEqual(
    ['a', 'b', 'c'].flatMap((id) => [`input-${id}`, `answer-${id}`]),
  );
});

test('a conversation that was killed before its first checkpoint is read from its log', async () => {
  const { journal, root, folder } = await open();
  await runSimpleTurn(journal, coder, 'a', { extensionState: { memo: 1 } });
  expect(existsSync(join(folder, 'metadata.json'))).toBe(false);
  const { journal: reader } = await open({ root });
  expect(await reader.read(coder)).toMatchObject({ version: 1, messages: [{}, {}], extensionState: { memo: 1 } });
  expect(await reader.summary(coder)).toMatchObject({ messages: 2, createdAt: expect.any(Date) });
  expect(await reader.instances()).toEqual([coder]);
});

test.each([
  ['is missing', (path: string) => rmSync(path)],
  ['is empty', (path: string) => truncateSync(path, 0)],
  ['has only zeros', (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size))],
  ['has a damaged first frame', (path: string) => flipIn(path)],
  ['is missing beside a base', (path: string) => leaveOnlyBase(path)],
  ['was cut in its first frame', (path: string) => truncateSync(path, 20)],
  ['was cut after its first frame', (path: string) => truncateSync(path, readFileSync(path).indexOf(10) + 1)],
  ['was closed, and its checkpoint is missing', (path: string) => truncateSync(path, closeAt(path))],
] as const)('a conversation without a checkpoint whose log %s is damaged, and not new', async (_, harm) => {
  const { journal, root, folder } = await open();
  await runSimpleTurn(journal, coder, 'a');
  harm(join(folder, 'messages/events.jsonl'));
  // The process with the lock is gone.
  rmSync(join(folder, 'lock'));
  const { journal: reader } = await open({ root });
  for (const read of [reader.read(coder), reader.summary(coder), reader.open(coder, 'turn-b')])
    expect(await rejectionOf(read)).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(await reader.instances()).toEqual([coder]);
});

function flipIn(path: string): void {
  const bytes = readFileSync(path);
  bytes[30] = (bytes[30] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

function leaveOnlyBase(path: string): void {
  rmSync(path);
  writeFileSync(join(dirname(path), 'base.jsonl'), 'a message\n');
}

test('the draft of a log that a kill left is written anew', async () => {
  const { journal, folder } = await open();
  mkdirSync(join(folder, 'messages.next'), { recursive: true });
  writeFileSync(join(folder, 'messages.next/events.jsonl'), 'draft'.repeat(1000));
  await runSimpleTurn(journal, coder, 'a');
  expect((await journal.read(coder)).messages).toHaveLength(2);
});

/** Writes the space that closes a log, and returns the size that the log has then. */
function closeAt(path: string): number {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(10) + 1;
  bytes[end] = 0x20;
  writeFileSync(path, bytes);
  return end + 1;
}

test('the first turn of a new conversation has 5 syncs, and closing it has 2', async () => {
  const syncs: string[] = [];
  const note = (path: string) => syncs.push(path.slice(path.lastIndexOf('/') + 1));
  const { journal } = await open({ fs: notingFs(note) });
  syncs.length = 0;
  await runSimpleTurn(journal, coder, 'a');
  // The room of the log, the names of log, conversation and workspace, and the log with its first turn.
  const names = ['messages.next', 'coder~default', 'instances'];
  expect(syncs.splice(0)).toEqual(['events.jsonl', ...names, 'events.jsonl']);
  await journal.close();
  expect(syncs).toEqual(['metadata.json.next', 'coder~default']);
});

test('a log gets a second file only after a checkpoint', async () => {
  const renamed: string[] = [];
  const fs: Fs = {
    ...systemFs,
    rename: (from, to) => (renamed.push(to.slice(to.lastIndexOf('/') + 1)), systemFs.rename(from, to)),
  };
  const limits = { archive: { bytes: 100, files: 9 }, checkpointBytes: 1_000_000 };
  const { journal } = await open({ fs, limits });
  await runSimpleTurn(journal, coder, 'a');
  await journal.close();
  const [first, second] = renamed.filter((name) => /^(?:metadata|events)/.test(name));
  expect([first, second]).toEqual(['metadata.json', 'events.000001.jsonl']);
});
