/**
 * Creates a complete instance with its first commit. The files are written into a draft folder, which is not listed as
 * an instance, and the folder is then renamed. After a crash the instance exists completely or not at all. A sweep
 * removes draft folders that were left.
 */
import { dirname } from 'node:path';
import { draftFolder, pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import { applyCommit, commitPlan } from './apply-commit.ts';
import { createInstance } from './create-instance.ts';
import { removeAside } from './delete-instance.ts';
import { closeInstanceFiles, openInstanceFiles } from './instance-files.ts';
import type { CommitPlan } from './plan-commit.ts';
import { newUuid } from '../../ports/ids.ts';

/**
 * Creates the instance; nothing may exist at its path. Durable when it resolves. **Errors** — those of the disk; the
 * caller then has to check whether the instance exists.
 */
export async function placeInstance(stored: StoredInstance, plan: CommitPlan): Promise<void> {
  const { fs, paths } = stored;
  const instances = dirname(paths.folder);
  const draft = { ...stored, paths: pathsIn(draftFolder(instances, newUuid())) };
  try {
    await writeDraft(draft, plan);
    await fs.rename(draft.paths.folder, paths.folder);
  } catch (error) {
    await removeAside(stored, draft.paths.folder);
    throw error;
  }
  await fs.syncFolder(instances);
}

/**
 * Writes the draft folder. When the promise resolves, everything except the directory entry of the folder is durable.
 */
async function writeDraft(draft: StoredInstance, plan: CommitPlan): Promise<void> {
  await draft.fs.makeFolder(draft.paths.folder);
  await createInstance(draft);
  const files = await openInstanceFiles(draft);
  try {
    await commitPlan(draft, plan);
    await applyCommit(draft, files, plan, async () => undefined);
  } finally {
    await closeInstanceFiles(files);
  }
}
