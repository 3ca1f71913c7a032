/** Checks a file that a person names, before its bytes are read. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GoondanError } from '@goondan/types';

export interface CheckedFile {
  /** The absolute path. */
  readonly place: string;
  readonly size: number;
  /** The content of a pipe that the shell has opened, as for `<(…)`. A pipe can be read only once. */
  readonly piped?: Buffer;
  /** Makes the error of a file that cannot be read after all. */
  refuse(this: void, error: unknown): GoondanError;
}

/** The most bytes of a file that are read. */
export const MOST_BYTES = 256 * 1_024 * 1_024;
/** The most bytes of a pipe of text. */
const MOST_TEXT = 1_024 * 1_024;

/** Checks a file of text. Returns the content of a pipe. **Errors** — those of `checkFile`. */
export async function checkTextFile(path: string): Promise<string | undefined> {
  return (await checkFile(path, undefined, undefined, MOST_TEXT)).piped?.toString();
}

/**
 * `hint`: the suggestion of the error; the place of the file when absent. **Errors** — `E_USAGE` when there is no such file, when
 * it is empty or cannot be read, or when a pipe has more than `mostPiped` bytes.
 */
export async function checkFile(
  path: string,
  folder = process.cwd(),
  hint?: string,
  mostPiped = MOST_BYTES,
): Promise<CheckedFile> {
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
    await access(place, constants.R_OK);
    const piped = isPipe ? await readPipe(place, mostPiped) : undefined;
    const size = piped?.length ?? about.size;
    if (size === 0) throw unusable('is empty', 'Name a file with content, or leave it out.');
    if (isPipe && size > mostPiped) throw unusable(`has more than ${mostPiped} bytes`, 'Write less to the pipe.');
    return { place, size, refuse, ...(piped && { piped }) };
  } catch (error) {
    throw GoondanError.is(error) ? error : refuse(error);
  }
}

const descriptor = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;

/** Stops soon after `most` bytes, because a pipe may never end. */
async function readPipe(place: string, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of Bun.file(place).stream()) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return Buffer.concat(chunks);
}

function problemOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  return code === 'EACCES' ? 'cannot be read: you have no permission' : `cannot be read: ${String(error)}`;
}
