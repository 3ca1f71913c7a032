/** Reads the files that a person names for an input. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { toInputPart } from '@goondan/runtime/internal';
import { GoondanError, type InputPart } from '@goondan/types';
import { checkFile, MOST_BYTES } from './check-file.ts';

/** Reads the files of `--file`. **Errors** — `E_USAGE` when one cannot be read, `E_FILE_SIZE`. */
export async function readFiles(paths: readonly string[], folder = process.cwd()): Promise<readonly InputPart[]> {
  const parts: InputPart[] = [];
  for (const path of paths) parts.push(await readFilePart(path, folder));
  return parts;
}

/** `hint`: the suggestion of the error when the file cannot be read. */
export async function readFilePart(path: string, folder: string, hint?: string): Promise<InputPart> {
  const { place, size, refuse, piped } = await checkFile(path, folder, hint);
  // The swarm has its own limit, `policy.maxFileBytes`, and says so.
  if (size > MOST_BYTES) {
    throw new GoondanError('E_FILE_SIZE', `${path} has ${size} bytes; at most ${MOST_BYTES} can be sent.`);
  }
  const read = () =>
    readFile(place).catch((error: unknown) => {
      throw refuse(error);
    });
  return toInputPart(piped ?? (await read()), basename(path));
}
