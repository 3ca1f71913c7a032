import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';

/**
 * Runs `work` while the folder's `.npmrc` is hidden from npm. npm has no setting for that, so the file is renamed, and
 * renamed back afterwards.
 *
 * **Errors** — `E_PACKAGE_FILE` when the file cannot be renamed; then `work` does not run.
 */
export async function withoutNpmrc<Value>(folder: string, work: () => Promise<Value>): Promise<Value> {
  const path = join(folder, '.npmrc');
  const aside = join(folder, `.npmrc.set-aside-${crypto.randomUUID()}`);
  const wasThere = rename(path, aside);
  try {
    return await work();
  } finally {
    if (wasThere) rename(aside, path);
  }
}

/** Returns false when the file does not exist. */
function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return false;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new GoondanError('E_PACKAGE_FILE', `"${from}" cannot be renamed: ${reason}.`, { cause });
  }
}
