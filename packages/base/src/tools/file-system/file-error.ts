/** Errors about a path. They show the path as the caller wrote it. */
import { type ErrorCode, GoondanError } from '@goondan/types';

export function fileError(code: ErrorCode, path: string, problem: string, cause?: unknown): GoondanError {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new GoondanError(code, `${JSON.stringify(shown)} ${problem}.`, { cause });
}

export function outside(path: string): GoondanError {
  return fileError('E_FILE_OUTSIDE', path, 'is not inside the folder this tool may use');
}

const problems: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['E_FILE_MISSING', 'does not exist'],
  ENOTDIR: ['E_FILE_KIND', 'is not a folder, or a part of the path is not a folder'],
  EISDIR: ['E_FILE_KIND', 'is a folder'],
  ENOTEMPTY: ['E_FILE_KIND', 'is a folder'],
  ENAMETOOLONG: ['E_FILE_FAILED', 'is too long a name'],
  EACCES: ['E_FILE_FAILED', 'may not be used: permission denied'],
  EPERM: ['E_FILE_FAILED', 'may not be used: permission denied'],
  EROFS: ['E_FILE_FAILED', 'cannot be written: the disk is read-only'],
  ENOSPC: ['E_FILE_FAILED', 'cannot be written: the disk is full'],
};

/**
 * Turns a system error into an error of this tool. The system's message names file descriptors, which mean nothing to
 * the model.
 */
export function fromSystem(path: string, thrown: unknown): unknown {
  if (GoondanError.is(thrown)) return thrown;
  const code = codeOf(thrown);
  if (code === undefined) return thrown;
  const [known, problem] = problems[code] ?? ['E_FILE_FAILED', `cannot be used: ${code}`];
  return fileError(known, path, problem, thrown);
}

export function codeOf(thrown: unknown): string | undefined {
  const code: unknown = thrown instanceof Error ? Reflect.get(thrown, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}
