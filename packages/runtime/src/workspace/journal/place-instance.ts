/**
 * Creates a complete instance with its first commit. The files are written into a draft folder, which is not listed as
 * an instance, and the folder is then renamed. After a crash the instance exists completely or not at all. A sweep
 * removes draft folders that were left.
 */
import { dirname } from 'node:path';
import type { AgentAddress } from '@goondan/types';
import { draftFolder, type InstancePaths, pathsIn } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import type { StorePorts } from '../store-ports.ts';
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
export async function placeInstance(
  ports: StorePorts,
  paths: InstancePaths,
  address: AgentAddress,
  plan: CommitPlan,
  limits: StoreLimits,
): Promise<void> {
  const instances = dirname(paths.folder);
  const draft = pathsIn(draftFolder(instances, newUuid()));
  try {
    await writeDraft(ports, draft, address, plan, limits);
    await ports.fs.rename(draft.folder, paths.folder);
  } catch (error) {
    await removeAside(ports, draft.folder);
    throw error;
  }
  await ports.fs.syncFolder(instances);
}

/** Writes the draft folder. When it resolves, everything but the directory entry of the folder is durable. */
async function writeDraft(
  ports: StorePorts,
  draft: InstancePaths,
  address: AgentAddress,
  plan: CommitPlan,
  limits: StoreLimits,
): Promise<void> {
  await ports.fs.makeFolder(draft.folder);
  await createInstance(ports, draft, address, limits);
  const files = await openInstanceFiles(ports, draft, limits);
  try {
    await commitPlan(ports, draft, plan);
    await applyCommit(ports, draft, files, plan, async () => undefined);
  } finally {
    await closeInstanceFiles(files);
  }
}
