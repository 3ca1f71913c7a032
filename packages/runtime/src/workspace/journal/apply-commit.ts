/**
 * Carries out a planned commit in the process that has the files open. `commitPlan` ends at the commit point.
 * `applyCommit` may fail or be interrupted anywhere, and recovery finishes it.
 */
import type { InstancePaths } from '../layout/instance-paths.ts';
import { AppendLog } from '../lines/append-log.ts';
import { prepareFile, putInPlace } from '../lines/replace-file.ts';
import { together } from '../lines/together.ts';
import type { StorePorts } from '../store-ports.ts';
import { placeExtensions, prepareExtensions } from '../records/extension-files.ts';
import type { InstanceFiles } from './instance-files.ts';
import { encodeMetadata } from '../records/metadata.ts';
import type { CommitPlan } from './plan-commit.ts';
import type { StatesPlan } from './plan-states.ts';

/** Commits the turn; durable when it resolves. The events were synced by `append`. */
export async function commitPlan(
  { fs }: StorePorts,
  paths: InstancePaths,
  plan: CommitPlan | StatesPlan,
): Promise<void> {
  await together([
    prepareExtensions(fs, paths, plan.extensions, plan.changed),
    prepareBase(fs, paths, plan),
    prepareFile(fs, paths.metadata, encodeMetadata(plan.metadata)),
  ]);
  await putInPlace(fs, paths.metadata);
}

async function prepareBase(fs: StorePorts['fs'], paths: InstancePaths, plan: CommitPlan | StatesPlan): Promise<void> {
  if (!('baseBytes' in plan) || !plan.isRewrite) return;
  await prepareFile(fs, paths.base, plan.baseBytes);
  // The commit record needs the durable name as well as the bytes.
  await fs.syncFolder(paths.messages);
}

/**
 * Applies the committed changes. `putReply` puts the answer into the outbox, durably. The log is cleared last: until
 * then it shows that the commit is not complete (`hasWork`).
 */
export async function applyCommit(
  { fs }: StorePorts,
  paths: InstancePaths,
  files: InstanceFiles,
  plan: CommitPlan,
  putReply: () => Promise<void>,
): Promise<void> {
  if (plan.isRewrite) await placeBase(fs, paths, files);
  else await files.base.write(plan.baseBytes);
  await files.archive.write(plan.archiveBytes);
  // Both are synced before the events are removed: until then base and archive can be rebuilt from the events.
  await together([files.base.sync(), files.archive.sync()]);
  await placeExtensions(fs, paths, plan.changed, plan.removed);
  await putReply();
  // Not synced: the commit record already covers the numbers of events that come back after a loss of power.
  await files.events.truncate(0);
  await files.turn.truncate(0);
}

async function placeBase(fs: StorePorts['fs'], paths: InstancePaths, files: InstanceFiles): Promise<void> {
  await putInPlace(fs, paths.base);
  const old = files.base;
  files.base = await AppendLog.open(fs, paths.base);
  await old.close();
}
