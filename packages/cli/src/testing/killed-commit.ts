/**
 * For tests: a process that commits a changeset and is killed before the commit is over. Its arguments are the state root,
 * the bundle, and the new text of each file, as JSON. With `half`, the last file still has its old text.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openChangesets } from '@goondan/runtime/internal';
import { commitOf, writeChangeset } from './commit-changeset.ts';

const [, , stateRoot = '', bundleFolder = '', texts = '{}', how] = process.argv;
const files = JSON.parse(texts) as Record<string, string>;
const [last = ''] = Object.keys(files).slice(-1);
const old = readFileSync(join(bundleFolder, last));
const changesets = openChangesets({ stateRoot, bundleFolder });
const { id, edits, digest } = await writeChangeset(changesets, files);
await changesets.apply(id, edits, commitOf(digest), async () => {
  if (how === 'half') writeFileSync(join(bundleFolder, last), old);
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => undefined);
});
