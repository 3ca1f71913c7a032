/** Reads the files that a person names for an input. */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { toInputPart } from '@goondan/runtime/internal';
import { GoondanError, type InputPart } from '@goondan/types';

/** The most bytes that are read. The swarm has its own limit, `policy.maxFileBytes`, and says so. */
const MOST_BYTES = 256 * 1_024 * 1_024;

/** Reads the files of `--file`. **Errors** — `E_USAGE` when one cannot be read, `E_FILE_SIZE`. */
export async function readFiles(paths: readonly string[], folder = process.cwd()): Promise<readonly InputPart[]> {
  const parts: InputPart[] = [];
  for (const path of paths) parts.push(await readFilePart(path, folder));
  return parts;
}

/** `hint`: the suggestion of the error when the file cannot be read. */
export async function readFilePart(path: string, folder: string, hint = 'Check the path.'): Promise<InputPart> {
  const bytes = await readBytes(path, resolve(folder, path), hint);
  return toInputPart(bytes, basename(path));
}

async function readBytes(path: string, place: string, hint: string): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    const about = await stat(place);
    if (about.isDirectory()) throw unusable(path, 'is a folder', hint);
    // It is not even opened: to open a named pipe that nobody writes to would take forever.
    if (!about.isFile()) throw unusable(path, 'is not a file', hint);
    if (about.size === 0) throw unusable(path, 'is empty', hint);
    if (about.size > MOST_BYTES) {
      throw new GoondanError('E_FILE_SIZE', `${path} has ${about.size} bytes; at most ${MOST_BYTES} can be sent.`);
    }
    file = await open(place, 'r');
    return await file.readFile();
  } catch (error) {
    if (GoondanError.is(error)) throw error;
    throw unusable(path, problemOf(error), hint);
  } finally {
    await file?.close();
  }
}

function problemOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  return code === 'EACCES' ? 'cannot be read: you have no permission' : `cannot be read: ${String(error)}`;
}

function unusable(path: string, problem: string, suggestion: string): GoondanError {
  return new GoondanError('E_USAGE', `The file ${path} ${problem}.`, { suggestion });
}
