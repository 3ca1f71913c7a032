/**
 * Migrates a workspace from format 1 to format 2, before anything else opens it. `format.json` says that it is done. One
 * instance after the other is migrated, so a migration that was interrupted goes on where it was.
 *
 * The old folders are kept (`format-file.ts`). An instance whose files are damaged stays in format 1: it does not start, all
 * others do, and the next start tries again. A file in its folder says which file is damaged.
 */
import { join } from 'node:path';
import { codedFs } from '../../ports/coded-fs.ts';
import { keptWorkspace } from '../layout/kept-workspace.ts';
import { makeFolders } from '../layout/make-folders.ts';
import {
  questionsPath,
  instancesFolder,
  isAside,
  type JournalLocation,
  pathsIn,
  type StoredInstance,
  swarmRecordPath,
  workspaceFolder,
} from '../layout/instance-paths.ts';
import { defaultLimits } from '../limits.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { acquireLock } from '../lock/acquire-lock.ts';
import { newUuid } from '../../ports/ids.ts';
import { FORMAT_VERSION } from '../records/metadata.ts';
import { writeMigrationProblem } from '../records/migration-problem.ts';
import type { StorePorts } from '../store-ports.ts';
import { readFormat, writeFormat } from './format-file.ts';
import { MIGRATED, migrateInstance, placeMigrated } from './migrate-instance.ts';
import { deadLettersPath, outboxPath } from './paths.ts';
import { readOldInstance } from './read-instance.ts';

export interface MigratedWorkspace {
  readonly migrated: number;
  readonly left: readonly string[];
}

/**
 * Migrates the instances that are in format 1. Only for the owner of the workspace. `onProgress` is called after each instance.
 *
 * **Errors** — `E_STORE_FORMAT` when a newer version wrote the workspace; `E_LOCKED`; those of the disk.
 */
export async function migrateWorkspace(
  outside: StorePorts,
  location: JournalLocation,
  onProgress: (done: number, all: number) => void = () => undefined,
): Promise<MigratedWorkspace> {
  const ports = { ...outside, fs: codedFs(outside.fs) };
  const { fs, clock, warn } = ports;
  const workspace = workspaceFolder(location.stateRoot, location.workspaceId);
  const known = await readFormat(ports, location);
  await finishRenames(ports, workspace);
  const names = known?.left ?? (await folders(ports, workspace));
  const left: string[] = [];
  let migrated = 0;
  for (const [index, name] of names.entries()) {
    try {
      if (await migrateFolder(ports, location, workspace, name)) migrated += 1;
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      left.push(name);
      const paths = pathsIn(join(instancesFolder(workspace), name));
      warn({ path: paths.folder, message: `stays in format 1, because it is damaged: ${error.message}` });
      await writeMigrationProblem(fs, paths, error.message);
    }
    onProgress(index + 1, names.length);
  }
  await makeFolders(fs, location.stateRoot, workspace);
  await writeFormat(ports, location, {
    formatVersion: FORMAT_VERSION,
    migratedAt: known?.migratedAt ?? clock.now().toISOString(),
    left,
  });
  return { migrated, left };
}

async function folders({ fs }: StorePorts, workspace: string): Promise<string[]> {
  const names = (await fs.list(instancesFolder(workspace))) ?? [];
  return names.filter((name) => !isAside(name) && !name.startsWith(MIGRATED)).toSorted();
}

/** Finishes what a crash interrupted between the two renames of an instance. */
async function finishRenames({ fs }: StorePorts, workspace: string): Promise<void> {
  const instances = instancesFolder(workspace);
  for (const draft of (await fs.list(instances)) ?? []) {
    if (!draft.startsWith(MIGRATED)) continue;
    const name = draft.slice(MIGRATED.length);
    if (await fs.stat(join(instances, name))) await fs.removeFolder(join(instances, draft));
    else await placeMigrated(fs, instances, name);
  }
}

/** Returns false if the folder is not in format 1. */
async function migrateFolder(
  ports: StorePorts,
  location: JournalLocation,
  workspace: string,
  name: string,
): Promise<boolean> {
  const paths = pathsIn(join(instancesFolder(workspace), name));
  // The address is not known before the metadata is read, and not needed to read it.
  const stored: StoredInstance = {
    ...ports,
    paths,
    address: { agentName: '', instanceKey: '' },
    limits: defaultLimits,
  };
  const old = await readOldInstance(stored);
  if (!old && !(await isHalfCreated(stored))) {
    await keepInput(stored, location, workspace, name);
    return false;
  }
  const { fs, processes } = ports;
  const what = `The conversation in ${paths.folder}`;
  // Shows that no process of an earlier run still writes. It is released at once, because the kept copy must not be locked.
  await (await acquireLock({ fs, processes, holder: newUuid(), what }, paths.lock)).release();
  const kept = await makeKept(ports, location, workspace);
  await fs.remove(paths.migrationProblem);
  await migrateInstance(stored, old, { workspace, name, kept });
  return old !== undefined;
}

/**
 * Returns true if a crash interrupted the creation of the instance: it has input, and the files of a conversation, but
 * nothing is in them. The metadata came last. An older version creates them again.
 */
async function isHalfCreated(stored: StoredInstance): Promise<boolean> {
  const { fs, paths } = stored;
  const names = await fs.list(paths.messages);
  if (!names || (await fs.stat(paths.metadata)) || !(await fs.stat(paths.inbox))) return false;
  const files = [...names.map((name) => join(paths.messages, name)), outboxPath(stored), deadLettersPath(stored)];
  for (const file of files) if (((await fs.stat(file))?.size ?? 0) > 0) return false;
  return true;
}

/** Makes the folder of the kept instances, with the files of the workspace that an older version needs beside them. */
async function makeKept(ports: Pick<StorePorts, 'fs'>, location: JournalLocation, workspace: string): Promise<string> {
  const { stateRoot } = location;
  const kept = keptWorkspace(location);
  const instances = instancesFolder(kept);
  if (await ports.fs.stat(instances)) return instances;
  await makeFolders(ports.fs, stateRoot, kept);
  for (const path of [questionsPath, swarmRecordPath]) {
    const bytes = await ports.fs.read(path(workspace));
    if (bytes) await replaceFile(ports.fs, path(kept), bytes);
  }
  // Once this folder exists, the files above are complete.
  await makeFolders(ports.fs, stateRoot, instances);
  return instances;
}

/** Copies the input of an instance that never ran, and so has no format. The new version uses the same file. */
async function keepInput(
  stored: StoredInstance,
  location: JournalLocation,
  workspace: string,
  name: string,
): Promise<void> {
  const { fs, paths } = stored;
  if (await fs.stat(paths.metadata)) return;
  const inbox = await fs.read(paths.inbox);
  if (!inbox) return;
  const kept = await makeKept(stored, location, workspace);
  const copy = pathsIn(join(kept, name));
  await fs.makeFolder(copy.folder);
  await replaceFile(fs, copy.inbox, inbox);
  await fs.syncFolder(kept);
}
