/** Migrates the files of an older version before anything else opens them. Only for the owner of the workspace. */
import { codedFs } from '../../ports/coded-fs.ts';
import { isExpired, KEPT_DAYS, mayBeOld, readFormat, writeFormat } from '../../workspace/format-1/format-file.ts';
import { type JournalLocation, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { keptFolder, keptWorkspace } from '../../workspace/layout/kept-workspace.ts';
import { makeFolders } from '../../workspace/layout/make-folders.ts';
import { isKeptInUse } from '../../workspace/lock/is-kept-in-use.ts';
import { FORMAT_VERSION } from '../../workspace/records/metadata.ts';
import type { StorePorts } from '../../workspace/store-ports.ts';

/** **Errors** — `E_STORE_FORMAT` when a newer version wrote the files; those of the disk. */
export async function migrateOld(outside: StorePorts, location: JournalLocation): Promise<void> {
  const ports = { ...outside, fs: codedFs(outside.fs) };
  const format = await readFormat(ports, location);
  if (format && format.left.length === 0) {
    if (isExpired(format, ports.clock.now())) await removeExpired(ports, location, format.migratedAt);
    return;
  }
  if (!format && !(await mayBeOld(ports, location))) return markNew(ports, location);
  const { migrateWorkspace } = await import('../../workspace/format-1/migrate-workspace.ts');
  const { migrated } = await migrateWorkspace(outside, location);
  if (migrated === 0) return;
  const count = `${migrated} ${migrated === 1 ? 'conversation' : 'conversations'}`;
  const kept = keptFolder(location.stateRoot);
  const message =
    `migrated ${count} to format 2. The old files are kept in ${kept} for ${KEPT_DAYS} days; ` +
    `to go back, run the older version with \`--state-root ${kept}\`.`;
  ports.warn({ path: workspaceFolder(location.stateRoot, location.workspaceId), message });
}

/** Files that an older version uses stay until a later start, and files that it has changed stay. */
async function removeExpired(ports: StorePorts, location: JournalLocation, migratedAt: string): Promise<void> {
  const { isKeptChanged, removeKept } = await import('../../workspace/format-1/kept-files.ts');
  if (await isKeptInUse(ports, location)) return;
  if (!(await isKeptChanged(location, migratedAt))) return void (await removeKept(ports, location));
  const message = 'stays, because an older version has made turns in it since the migration; remove it yourself';
  ports.warn({ path: keptWorkspace(location), message });
}

async function markNew({ fs, clock }: StorePorts, location: JournalLocation): Promise<void> {
  await makeFolders(fs, location.stateRoot, workspaceFolder(location.stateRoot, location.workspaceId));
  const format = { formatVersion: FORMAT_VERSION, migratedAt: clock.now().toISOString(), left: [] };
  await writeFormat({ fs }, location, format);
}
