import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { systemError } from '../simulation/failing-fs.ts';
import { runSimpleTurn } from '../simulation/simulated-turn.ts';
import { durableStore } from './durable-store.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const root = temporaryFolder();

const open = (stateRoot: string, fs: Fs = systemFs) =>
  durableStore({ stateRoot, workspaceId: 'w', fs, warn: () => undefined });

/** Reads the epoch that the checkpoint says is closed. */
function closedBy(stateRoot: string): number {
  const path = join(stateRoot, 'workspaces/w/instances/coder~default/metadata.json');
  return JSON.parse(readFileSync(path, 'utf8')).checkpoint.closedBy;
}

/** Returns the epoch of the lock from the epoch of a writer. */
const ownerOf = (epoch: number) => Math.floor(epoch / 2 ** 32);

test('an owner takes an epoch above that of the last owner, even if the record of it cannot be read at first', async () => {
  const stateRoot = join(root, 'unread');
  for (const id of ['a', 'b', 'c']) {
    const journal = await open(stateRoot);
    await runSimpleTurn(journal, coder, id);
    await journal.close();
  }
  expect(closedBy(stateRoot)).toBe(3);
  let failures = 2;
  const read: Fs['read'] = async (path, ...rest) => {
    if (path.endsWith('metadata.json') && failures-- > 0) throw systemError('EMFILE');
    return systemFs.read(path, ...rest);
  };
  const journal = await open(stateRoot, { ...systemFs, read });
  expect(ownerOf((await journal.open(coder, 'turn-d')).epoch)).toBe(4);
  await journal.close();
  await runSimpleTurn(journal, coder, 'e');
  await journal.close();
  expect(closedBy(stateRoot)).toBeGreaterThan(4);
});

test('an epoch writes nothing after its checkpoint, even if the checkpoint and the release of the lock failed', async () => {
  const stateRoot = join(root, 'failed');
  let isBad = false;
  let isPlaced = false;
  const fs: Fs = {
    ...systemFs,
    async rename(from, to) {
      if (isBad && to.endsWith('/lock')) throw systemError('EIO');
      await systemFs.rename(from, to);
      isPlaced ||= to.endsWith('metadata.json');
    },
    async syncFolder(path) {
      if (isBad && isPlaced) throw systemError('EIO');
      await systemFs.syncFolder(path);
    },
  };
  const journal = await open(stateRoot, fs);
  await runSimpleTurn(journal, coder, 'a');
  isBad = true;
  await journal.close(coder);
  isBad = false;
  expect(closedBy(stateRoot)).toBe(1);
  expect(ownerOf((await journal.open(coder, 'turn-b')).epoch)).toBe(2);
  await journal.close();
});

test('a read during a reset leaves the conversation to the process that opens it next', async () => {
  const stateRoot = join(root, 'read');
  const journal = await open(stateRoot);
  await runSimpleTurn(journal, coder, 'a');
  await journal.close(coder);
  const state = { isReset: false };
  const resetting = journal.reset(coder).finally(() => void (state.isReset = true));
  const reads: Promise<unknown>[] = [];
  while (!state.isReset) {
    reads.push(journal.read(coder));
    await new Promise(setImmediate);
  }
  await Promise.all([resetting, ...reads]);
  const other = await open(stateRoot);
  await runSimpleTurn(other, coder, 'b');
  await other.close();
  await journal.close();
});
