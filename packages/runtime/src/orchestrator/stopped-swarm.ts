/** Changes conversations of a stopped workspace, in the way its orchestrator would. */
import type { AgentAddress } from '@goondan/types';
import { systemClock } from '../ports/clock.ts';
import { readBackup, type RestoredFiles, restoreFiles } from '../store/files/backup-files.ts';
import { type FilePlacement, joinFiles } from '../store/files/file-placement.ts';
import { type ExportedLog, exportLog } from '../store/export/export-instance.ts';
import { openAdmin } from '../store/files/open-admin.ts';
import { openExport, refuseUnused, type SwarmExport } from '../store/files/open-export.ts';
import type { InstanceAdmin } from '../store/instance-admin.ts';
import type { BackupManifest } from '../workspace/backup/manifest.ts';
import type { RestoreOptions } from '../workspace/backup/restore-workspace.ts';
import type { DurableStoreOptions } from '../workspace/journal/durable-store.ts';
import type { ForkedInstance, ForkOptions } from '../workspace/journal/fork-instance.ts';
import type { DeletedInstance, DeleteOptions } from '../workspace/journal/journal.ts';
import { followLinks } from '../workspace/layout/follow-links.ts';
import { refuseKey } from './address/find-address-problem.ts';
import { endLeftovers } from './guardian/kill-tagged.ts';
import { newTag, RUN_VARIABLE } from './guardian/process-tag.ts';

export interface StoppedSwarm extends Pick<DurableStoreOptions, 'stateRoot' | 'workspaceId' | 'warn'> {
  /** The name of the swarm. Another process that wants the workspace meanwhile gets an error with this name. */
  readonly swarm: string;
  /** See `startSwarm`. */
  readonly flock?: boolean;
}

/** A restored backup: its conversations, the time from which it is, and the damage that it has. */
export interface RestoredSwarm extends RestoredFiles, Pick<BackupManifest, 'conversations'> {
  readonly startedAt: Date;
}

/** Deletes an instance of a stopped workspace. **Errors** — `E_SWARM_RUNNING`; those of `InstanceAdmin.delete`. */
export function deleteStoppedInstance(
  place: StoppedSwarm,
  at: AgentAddress,
  options: DeleteOptions = {},
): Promise<DeletedInstance> {
  return withStoppedWorkspace(place, (admin) => admin.delete(at, options));
}

/**
 * Forks an instance of a stopped workspace.
 *
 * **Errors** — `E_INSTANCE_KEY`, `E_SWARM_RUNNING`; those of `InstanceAdmin.fork`.
 */
export async function forkStoppedInstance(
  place: StoppedSwarm,
  from: AgentAddress,
  options: ForkOptions,
): Promise<ForkedInstance> {
  refuseKey(options.as);
  return withStoppedWorkspace(place, (admin) => admin.fork(from, options));
}

/**
 * Restores a backup into a stopped workspace without conversations. `bundle`: the folder of its bundle.
 *
 * **Errors** — `E_SWARM_RUNNING`; those of `readBackup` and `restoreFiles`.
 */
export async function restoreStoppedSwarm(
  { bundle, ...place }: StoppedSwarm & { readonly bundle: string },
  options: Pick<RestoreOptions, 'folder' | 'signal' | 'onProgress'>,
): Promise<RestoredSwarm> {
  const manifest = await readBackup(options.folder);
  const { stateRoot, workspaceId, swarm } = place;
  const restored = await ownStopped(place, (placement) => {
    const target = { ...options, stateRoot, workspaceId, fence: () => placement.check() };
    return restoreFiles(manifest, target, { swarm, folder: followLinks(bundle) });
  });
  const { conversations, startedAt } = manifest;
  return { ...restored, conversations, startedAt: new Date(startedAt) };
}

/**
 * Reads a stopped workspace while no swarm can start. `action` gets everything that the workspace keeps.
 *
 * **Errors** — `E_SWARM_UNKNOWN` when no swarm ever ran there, `E_SWARM_RUNNING`; those of `action`.
 */
export async function exportStoppedSwarm<Value>(
  place: StoppedSwarm & Required<Pick<StoppedSwarm, 'warn'>>,
  action: (files: SwarmExport<ExportedLog>) => Promise<Value>,
): Promise<Value> {
  refuseUnused(place);
  return ownStopped(place, async (placement) => {
    const { stateRoot, workspaceId, warn } = place;
    const files = await openExport({ stateRoot, workspaceId, warn, fence: () => placement.check() }, exportLog);
    try {
      return await action(files);
    } finally {
      await files.close();
    }
  });
}

/** Administers the workspace while no swarm can start. **Errors** — `E_SWARM_RUNNING`; those of `action`. */
function withStoppedWorkspace<Value>(
  stopped: StoppedSwarm,
  action: (admin: InstanceAdmin) => Promise<Value>,
): Promise<Value> {
  const { stateRoot, workspaceId, warn } = stopped;
  return ownStopped(stopped, async (placement) => {
    const place = { stateRoot, workspaceId, ...(warn && { warn }), fence: () => placement.check() };
    const { admin, close } = await openAdmin(place);
    try {
      await admin.sweep();
      return await action(admin);
    } finally {
      await close();
    }
  });
}

/**
 * Owns the workspace while `action` runs, so that no swarm can start. Remaining processes of an earlier run are ended
 * first, because they may still write.
 *
 * **Errors** — `E_SWARM_RUNNING`; those of `action`.
 */
async function ownStopped<Value>(
  stopped: StoppedSwarm,
  action: (placement: FilePlacement) => Promise<Value>,
): Promise<Value> {
  const placement = await holdStopped(stopped);
  try {
    return await action(placement);
  } finally {
    await placement.leave();
  }
}

/** Owns the workspace until `leave` of the result. **Errors** — `E_SWARM_RUNNING`. */
export async function holdStopped({ swarm, flock = true, ...place }: StoppedSwarm): Promise<FilePlacement> {
  const run = { swarm, runTag: newTag(RUN_VARIABLE) };
  const placement = await joinFiles({ ...place, ...(flock ? {} : { flock }) }, run);
  try {
    await endLeftovers(placement.broken, systemClock);
    return placement;
  } catch (error) {
    await placement.leave();
    throw error;
  }
}
