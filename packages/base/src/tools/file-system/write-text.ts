/**
 * Writes a text to a file, completely or not at all: writes a temporary file in the same folder and renames it to the
 * file. The rename replaces the file, so neither a symbolic link nor a hard link can redirect the text.
 */
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { FileConfig } from './file-config.ts';
import { fileError, fromSystem } from './file-error.ts';
import { walk, type Walked } from './walk.ts';

export type WriteBounds = Pick<FileConfig, 'root' | 'readOnly' | 'fileLimit'>;

export function writeText({ path, text }: { readonly path: string; readonly text: string }, bounds: WriteBounds) {
  const bytes = Buffer.from(text);
  checkWritable(path, bytes.length, bounds);
  using walked = walk(bounds.root, path, { makeFolders: true });
  replaceFile(walked, path, bytes);
  return { path: walked.path, bytes: bytes.length, created: walked.found === undefined };
}

/** Checks that a file of this size may be written. Throws `E_FILE_READ_ONLY`, `E_FILE_LIMIT`. */
export function checkWritable(path: string, bytes: number, { readOnly, fileLimit }: WriteBounds): void {
  if (readOnly) throw fileError('E_FILE_READ_ONLY', path, 'cannot be written: this tool only reads');
  if (bytes > fileLimit) {
    throw fileError('E_FILE_LIMIT', path, `would have ${bytes} bytes; at most ${fileLimit} are allowed`);
  }
}

export function replaceFile({ folder, name, found }: Walked, path: string, bytes: Buffer): void {
  if (found !== undefined && !found.stats.isFile()) {
    throw fileError('E_FILE_KIND', path, found.stats.isDirectory() ? 'is a folder' : 'is not a file');
  }
  const beside = `${folder}/.${crypto.randomUUID()}.tmp`;
  try {
    const descriptor = openSync(beside, 'wx');
    try {
      if (found !== undefined) fchmodSync(descriptor, found.stats.mode & 0o777);
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(beside, `${folder}/${name}`);
  } catch (error) {
    rmSync(beside, { force: true });
    throw fromSystem(path, error);
  }
}
