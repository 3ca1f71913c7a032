/** Checks a file that a person names, before its bytes are read. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GoondanError } from '@goondan/types';

export interface CheckedFile {
  /** The absolute path. */
  readonly place: string;
  readonly size: number;
  /** True for a pipe that the shell has opened, as for `<(…)`. */
  readonly isPipe: boolean;
  /** Makes the error of a file that cannot be read after all. */
  refuse(this: void, error: unknown): GoondanError;
}

/**
 * `hint`: the suggestion of the error; the place of the file when absent. **Errors** — `E_USAGE` when there is no such file, or
 * when it is empty or cannot be read.
 */
export async function checkFile(path: string, folder = process.cwd(), hint?: string): Promise<CheckedFile> {
  const place = resolve(folder, path);
  const suggestion = hint ?? `Check the path. The command looked for ${place}`;
  const unusable = (problem: string, advice = suggestion) =>
    new GoondanError('E_USAGE', `The file ${path} ${problem}.`, { suggestion: advice });
  const refuse = (error: unknown) => unusable(problemOf(error));
  try {
    const about = await stat(place);
    if (about.isDirectory()) throw unusable('is a folder');
    const isPipe = about.isFIFO() && descriptor.test(place);
    // It is not even opened: to open a named pipe that nobody writes to would take forever.
    if (!about.isFile() && !isPipe) throw unusable('is not a file');
    if (about.size === 0 && !isPipe) throw unusable('is empty', 'Name a file with content, or leave it out.');
    await access(place, constants.R_OK);
    return { place, size: about.size, isPipe, refuse };
  } catch (error) {
    throw GoondanError.is(error) ? error : refuse(error);
  }
}

const descriptor = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;

function problemOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  return code === 'EACCES' ? 'cannot be read: you have no permission' : `cannot be read: ${String(error)}`;
}
