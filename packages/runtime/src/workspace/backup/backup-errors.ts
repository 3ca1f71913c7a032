import { GoondanError } from '@goondan/types';

/** The name of the manifest, which a complete backup has. */
export const MANIFEST = 'backup.jsonl';

export function damagedBackup(path: string, problem: string): GoondanError {
  return new GoondanError('E_BACKUP_DAMAGED', `${path} ${problem}`);
}

export function busyFiles(path: string, attempts: number): GoondanError {
  const message = `${path} changed during each of ${attempts} attempts to copy it`;
  return new GoondanError('E_BACKUP_BUSY', message, { retryable: true });
}

export function unusableFolder(path: string, problem: string, suggestion: string): GoondanError {
  return new GoondanError('E_BACKUP_FOLDER', `${path} ${problem}`, { suggestion });
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
