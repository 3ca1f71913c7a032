/**
 * Reads a file of a bundle. Accepts only regular files of limited size that contain text, because the author of the
 * bundle may be hostile.
 */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import { readFully } from '../../../ports/fs.ts';
import { resolveEntry } from '../../resolve-entry.ts';

export type TextFile =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'missing' }
  /** The file exists, but was not read for this reason. */
  | { readonly type: 'refused'; readonly reason: 'size' | 'kind' | 'access' | 'outside' }
  /** The file is not text; the first invalid byte is at this place. */
  | { readonly type: 'bytes'; readonly line: number; readonly column: number };

/** Reads a file of a folder. A link that leads out of the folder is not followed. */
export async function readTextFileIn(folder: string, name: string, mostBytes: number): Promise<TextFile> {
  try {
    const path = await resolveEntry(folder, name, 'The file');
    return path === undefined ? { type: 'missing' } : readTextFile(path, mostBytes);
  } catch (error) {
    return { type: 'refused', reason: GoondanError.is(error) ? 'outside' : 'access' };
  }
}

export function readTextFile(path: string, mostBytes: number): TextFile {
  const bytes = readBytes(path, mostBytes);
  if (!(bytes instanceof Uint8Array)) return bytes;
  try {
    return { type: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    const before = new TextDecoder('utf-8').decode(bytes).split('\u{FFFD}')[0] ?? '';
    const lines = before.split('\n');
    return { type: 'bytes', line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  }
}

function readBytes(path: string, mostBytes: number): Uint8Array | TextFile {
  let descriptor: number;
  try {
    // Without `O_NONBLOCK`, opening a pipe that has no writer would block.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { type: 'missing' } : { type: 'refused', reason: 'access' };
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { type: 'refused', reason: 'kind' };
    if (stat.size > mostBytes) return { type: 'refused', reason: 'size' };
    return readFully(descriptor, 0, stat.size);
  } finally {
    closeSync(descriptor);
  }
}

/** Describes why a file was not read, as text to follow the name of the file. */
export function refusalText(reason: (TextFile & { type: 'refused' })['reason'], mostBytes: number): string {
  switch (reason) {
    case 'size':
      return `is larger than ${mostBytes / (1024 * 1024)} MB`;
    case 'kind':
      return 'is not a regular file';
    case 'access':
      return 'cannot be read';
    case 'outside':
      return 'is a link that leads out of the bundle';
  }
}
