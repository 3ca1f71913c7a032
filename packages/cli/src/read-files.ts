/** Reads the files that a person names for an input. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { toInputPart } from '@goondan/runtime/internal';
import { GoondanError, type InputPart } from '@goondan/types';
import { checkFile } from './check-file.ts';

/** The most bytes that are read. The swarm has its own limit, `policy.maxFileBytes`, and says so. */
const MOST_BYTES = 256 * 1_024 * 1_024;

/** Reads the files of `--file`. **Errors** — `E_USAGE` when one cannot be read, `E_FILE_SIZE`. */
export async function readFiles(paths: readonly string[], folder = process.cwd()): Promise<readonly InputPart[]> {
  const parts: InputPart[] = [];
  for (const path of paths) parts.push(await readFilePart(path, folder));
  return parts;
}

/** `hint`: the suggestion of the error when the file cannot be read. */
export async function readFilePart(path: string, folder: string, hint?: string): Promise<InputPart> {
  const { place, size, refuse } = await checkFile(path, folder, hint);
  if (size > MOST_BYTES) {
    throw new GoondanError('E_FILE_SIZE', `${path} has ${size} bytes; at most ${MOST_BYTES} can be sent.`);
  }
  const bytes = await readFile(place).catch((error: unknown) => {
    throw refuse(error);
  });
  return toInputPart(bytes, basename(path));
}
