/**
 * Carries out a planned commit in the process that has the files open. `commitPlan` ends at the commit point.
 * `applyCommit` may fail or be interrupted at any point, and recovery then finishes it.
 */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { AppendLog } from '../lines/append-log.ts';
import { prepareFile, putInPlace } from '../lines/replace-file.ts';
import { together } from '../lines/together.ts';
import { placeExtensions, prepareExtensions } from '../records/extension-files.ts';
import type { InstanceFiles } from './instance-files.ts';
import { encodeMetadata } from '../records/metadata.ts';
import type { CommitPlan } from './plan-commit.ts';
import type { StatesPlan } from './plan-states.ts';

/** Commits the turn. The commit is durable when the promise resolves. `append` has already synced the events. */
export async function commitPlan(stored: StoredInstance, plan: CommitPlan | StatesPlan): Promise<void> {
  const { fs, paths } = stored;
  await together([
    prepareExtensions(stored, plan.extensions, plan.changed),
    prepareBase(stored, plan),
    prepareFile(fs, paths.metadata, encodeMetadata(plan.metadata)),
  ]);
  await putInPlace(fs, paths.metadata);
}

async function prepareBase({ fs, paths }: StoredInstance, plan: CommitPlan | StatesPlan): Promise<void> {
  if (!('baseBytes' in plan) || !plan.isRewrite) return;
  await prepareFile(fs, paths.base, plan.baseBytes);
  // The commit record refers to this file, so its directory entry must be durable too.
  await fs.syncFolder(paths.messages);
}

/**
 * Applies the committed changes. `putReply` adds the answer to the outbox, durably. The log is cleared last: a log with
 * records shows that the commit is not completely applied (`hasWork`).
 */
export async function applyCommit(
  stored: StoredInstance,
  files: InstanceFiles,
  plan: CommitPlan,
  putReply: () => Promise<void>,
): Promise<void> {
  if (plan.isRewrite) await placeBase(stored, files);
  else await files.base.write(plan.baseBytes);
  await files.archive.write(plan.archiveBytes);
  // Base and archive are synced before the events are removed: until then, both can be rebuilt from the events.
  await together([files.base.sync(), files.archive.sync()]);
  await placeExtensions(stored, plan.changed, plan.removed);
  await putReply();
  // The truncation is not synced. If a power loss brings these events back, the commit record shows that they are
  // already committed.
  await files.events.truncate(0);
  await files.turn.truncate(0);
}

export async function placeBase({ fs, paths }: StoredInstance, files: InstanceFiles): Promise<void> {
  await putInPlace(fs, paths.base);
  const old = files.base;
  files.base = await AppendLog.open(fs, paths.base);
  await old.close();
}
