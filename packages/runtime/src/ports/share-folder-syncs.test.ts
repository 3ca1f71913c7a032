import { expect, test } from 'bun:test';
import { systemFs } from './fs.ts';
import { shareFolderSyncs } from './share-folder-syncs.ts';

/** A disk whose syncs end when the test says so. */
function heldSyncs() {
  const begun: { readonly path: string; readonly end: PromiseWithResolvers<void> }[] = [];
  const fs = shareFolderSyncs({
    ...systemFs,
    syncFolder(path) {
      const end = Promise.withResolvers<void>();
      begun.push({ path, end });
      return end.promise;
    },
  });
  return { fs, begun };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('calls for the same folder share a sync that begins after them', async () => {
  const { fs, begun } = heldSyncs();
  const first = [fs.syncFolder('/a'), fs.syncFolder('/a'), fs.syncFolder('/b')];
  await tick();
  expect(begun.map(({ path }) => path)).toEqual(['/a', '/b']);
  // The running sync may have begun before the change of this caller.
  let isDone = false;
  const late = [fs.syncFolder('/a'), fs.syncFolder('/a')].map((sync) => sync.then(() => (isDone = true)));
  for (const { end } of begun) end.resolve();
  await Promise.all(first);
  await tick();
  expect([isDone, begun.length]).toEqual([false, 3]);
  begun[2]?.end.resolve();
  await Promise.all(late);
});

test('a folder has one sync at a time, also after a caller is done', async () => {
  const { fs, begun } = heldSyncs();
  const first = fs.syncFolder('/a');
  await tick();
  const second = fs.syncFolder('/a');
  begun[0]?.end.resolve();
  await first;
  await tick();
  const third = [fs.syncFolder('/a'), fs.syncFolder('/a')];
  await tick();
  expect(begun).toHaveLength(2);
  begun[1]?.end.resolve();
  await second;
  await tick();
  expect(begun).toHaveLength(3);
  begun[2]?.end.resolve();
  await Promise.all(third);
});

test('a failed sync rejects for its callers, and not for later ones', async () => {
  const { fs, begun } = heldSyncs();
  const failed = Promise.allSettled([fs.syncFolder('/a'), fs.syncFolder('/a')]);
  await tick();
  const later = fs.syncFolder('/a');
  begun[0]?.end.reject(new Error('no disk'));
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await tick();
  begun[1]?.end.resolve();
  await later;
  expect(begun).toHaveLength(2);
});
