/**
 * `format.json` says in which format the conversations of a workspace are. The old files of a migrated workspace are kept
 * in `<state root>/format-1`, which an older version can use as its state root.
 */
import { GoondanError } from '@goondan/types';
import { instancesFolder, isAside, type JournalLocation, workspaceFolder } from '../layout/instance-paths.ts';
import { rootAbove } from '../layout/kept-workspace.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { FORMAT_VERSION } from '../records/metadata.ts';
import type { StorePorts } from '../store-ports.ts';

/** The time for which the old files are kept, in days. */
export const KEPT_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface Format {
  readonly formatVersion: number;
  readonly migratedAt: string;
  /** The folders of instances that stay in format 1, because their files are damaged. */
  readonly left: readonly string[];
}

type Disk = Pick<StorePorts, 'fs'>;

/**
 * Refuses the kept files of a migration: a command of this version would migrate them, and then no older version could
 * read them. **Errors** — `E_STORE_FORMAT`.
 */
export async function refuseKept({ fs }: Disk, { stateRoot, workspaceId }: JournalLocation): Promise<void> {
  const above = rootAbove(stateRoot);
  if (above === undefined || !(await fs.stat(workspaceFolder(above, workspaceId)))) return;
  const message = `${stateRoot} is the copy that a migration has kept for an older version of Goondan.`;
  const suggestion = `Use the state root ${above}. Only the older version uses the copy.`;
  throw new GoondanError('E_STORE_FORMAT', message, { suggestion });
}

/**
 * Reads the format of a workspace. Returns `undefined` when it is not known. **Errors** — `E_STORE_FORMAT` when a newer
 * version wrote the workspace.
 */
export async function readFormat({ fs }: Disk, location: JournalLocation): Promise<Format | undefined> {
  const path = formatPath(location);
  const bytes = await fs.read(path);
  const format = bytes && parseFormat(bytes);
  if (format && format.formatVersion > FORMAT_VERSION) {
    const known = `this version reads and writes format ${FORMAT_VERSION}`;
    throw new GoondanError('E_STORE_FORMAT', `${path} is in format ${format.formatVersion}; ${known}`);
  }
  return format;
}

export async function writeFormat({ fs }: Disk, location: JournalLocation, format: Format): Promise<void> {
  await replaceFile(fs, formatPath(location), Buffer.from(`${JSON.stringify(format)}\n`));
}

/**
 * Returns true if the workspace may have instances of format 1. It takes no lock. **Errors** — those of `refuseKept` and
 * `readFormat`.
 */
export async function mayBeOld(disk: Disk, location: JournalLocation): Promise<boolean> {
  await refuseKept(disk, location);
  if (await readFormat(disk, location)) return false;
  const instances = instancesFolder(workspaceFolder(location.stateRoot, location.workspaceId));
  return ((await disk.fs.list(instances)) ?? []).some((name) => !isAside(name));
}

/** Returns true if the old files have been kept for a week. */
export function isExpired({ migratedAt }: Format, now: Date): boolean {
  return now.getTime() - Date.parse(migratedAt) > KEPT_DAYS * DAY_MS;
}

function formatPath({ stateRoot, workspaceId }: JournalLocation): string {
  return `${workspaceFolder(stateRoot, workspaceId)}/format.json`;
}

/** An unreadable file says nothing: all instances are then looked at again. */
function parseFormat(bytes: Uint8Array): Format | undefined {
  try {
    const parsed = JSON.parse(new TextDecoder().decode(bytes)) as Partial<Format> | null;
    const { formatVersion, migratedAt, left } = parsed ?? {};
    const isFormat = typeof formatVersion === 'number' && typeof migratedAt === 'string' && Array.isArray(left);
    return isFormat ? { formatVersion, migratedAt, left } : undefined;
  } catch {
    return undefined;
  }
}
