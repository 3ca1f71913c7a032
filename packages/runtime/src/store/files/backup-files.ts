/** Backs up the files of a workspace, running or stopped, and restores them into another one. */
import { GoondanError } from '@goondan/types';
import { systemBundleFs } from '../../ports/bundle-fs.ts';
import { sleep, systemClock } from '../../ports/clock.ts';
import { codedBundleFs } from '../../ports/coded-fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { type Backup, type BackupOptions, backUpWorkspace } from '../../workspace/backup/back-up-workspace.ts';
import { unusableFolder } from '../../workspace/backup/backup-errors.ts';
import { findLostRestored } from '../../workspace/backup/find-lost-copies.ts';
import type { BackupManifest } from '../../workspace/backup/manifest.ts';
import {
  readManifest,
  type RestoreOptions,
  type RestoreProgress,
  restoreWorkspace,
} from '../../workspace/backup/restore-workspace.ts';
import { readInboxLog } from '../../workspace/inbox/read-inbox-log.ts';
import { followLinks } from '../../workspace/layout/follow-links.ts';
import { inboxFolder, type JournalLocation, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { recordSwarm, type SwarmRecord } from '../../workspace/swarms/swarm-record.ts';
import { openStoreReader } from './open-store-reader.ts';

const LONGEST_PAUSE_MS = 250;

/**
 * Copies a workspace. It takes no lock. **Errors** — `E_BACKUP_FOLDER` when the folder is in the state root; those of
 * `backUpWorkspace`.
 */
export async function backUpFiles(
  { stateRoot, workspaceId }: JournalLocation,
  options: BackupOptions,
): Promise<Backup> {
  const folder = followLinks(options.folder);
  const root = followLinks(stateRoot);
  if (folder === root || folder.startsWith(`${root}/`))
    throw unusableFolder(folder, 'is in the state root.', 'Name a folder outside of the state root.');
  const source = {
    fs: codedBundleFs(systemBundleFs),
    clock: systemClock,
    processes: systemProcesses,
    workspace: workspaceFolder(stateRoot, workspaceId),
    pause: (attempt: number) => sleep(systemClock, Math.min(2 ** attempt, LONGEST_PAUSE_MS)),
  };
  return backUpWorkspace(source, { ...options, folder });
}

/** A restored backup, and the damage that it has. */
export interface RestoredFiles extends RestoreProgress, Pick<BackupManifest, 'problems'> {}

/** Reads the manifest of a backup. **Errors** — those of `readManifest`. */
export function readBackup(folder: string): Promise<BackupManifest> {
  return readManifest(codedBundleFs(systemBundleFs), followLinks(folder));
}

/**
 * Restores a backup into a workspace without conversations. Only for the owner of the workspace, and only as its last
 * step: the folder of the workspace is replaced, with the lock of the owner. `run`: the swarm of the workspace.
 *
 * **Errors** — `E_RESTORE_TARGET` when the workspace has conversations, or a damaged inbox; those of `restoreWorkspace`.
 */
export async function restoreFiles(
  manifest: BackupManifest,
  options: RestoreOptions,
  run: Required<Pick<SwarmRecord, 'swarm' | 'folder'>>,
): Promise<RestoredFiles> {
  const { stateRoot, workspaceId } = options;
  await refuseConversations({ stateRoot, workspaceId });
  const folder = followLinks(options.folder);
  const fs = codedBundleFs(systemBundleFs);
  const progress = await restoreWorkspace(fs, manifest, { ...options, folder });
  await recordSwarm({ stateRoot, workspaceId, warn: () => undefined }, run);
  const lost = await findLostRestored(fs, workspaceFolder(stateRoot, workspaceId), manifest);
  return { ...progress, problems: [...manifest.problems, ...lost] };
}

async function refuseConversations(location: JournalLocation): Promise<void> {
  const inbox = inboxFolder(workspaceFolder(location.stateRoot, location.workspaceId));
  const [damage] = (await readInboxLog(codedBundleFs(systemBundleFs), inbox, true)).damage;
  if (damage) {
    const message = `${damage.path} is damaged, and may have inputs of conversations: ${damage.problem}.`;
    throw new GoondanError('E_RESTORE_TARGET', message);
  }
  let unknown = 0;
  const reader = openStoreReader({ ...location, warn: () => void (unknown += 1) });
  try {
    // A folder whose conversation cannot be determined is reported as a warning.
    const count = (await reader.directory.instances()).length + unknown;
    if (count === 0) return;
    const where = workspaceFolder(location.stateRoot, location.workspaceId);
    throw new GoondanError(
      'E_RESTORE_TARGET',
      `${where} has ${count} ${count === 1 ? 'conversation' : 'conversations'}.`,
    );
  } finally {
    await reader.close();
  }
}
