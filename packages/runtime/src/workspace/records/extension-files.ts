/**
 * Stores the states of extensions on disk, at each checkpoint. `<name>.json.next` is written before the checkpoint and
 * renamed to `<name>.json` after it. In between, the mark in the checkpoint decides which of the two files is valid. A
 * state that is too long for the log is stored in the same way by the commit of its turn.
 */
import { join } from 'node:path';
import type { JsonValue } from '@goondan/types';
import { nextOf, type StoredInstance } from '../layout/instance-paths.ts';
import { checksum } from '../lines/checksum.ts';
import { prepareFile } from '../lines/replace-file.ts';
import { together } from '../lines/together.ts';
import type { LogState } from './log-state.ts';
import { type FileMark, matches } from './metadata.ts';

/**
 * Reads the states. `texts`: the states by extension name. `toRename`: names of extensions whose `.next` file is the
 * valid one. `lost`: names of extensions with a file that does not match its mark.
 */
export async function readStates({ fs, paths }: StoredInstance, states: LogState['states']) {
  const texts = new Map<string, string>();
  const toRename: string[] = [];
  const lost: string[] = [];
  for (const [name, state] of states) {
    if (typeof state === 'string') {
      texts.set(name, state);
      continue;
    }
    const path = paths.extension(name);
    let bytes = await fs.read(path);
    if (!bytes || !matches(bytes, state)) {
      bytes = await fs.read(nextOf(path));
      if (!bytes || !matches(bytes, state)) {
        lost.push(name);
        continue;
      }
      toRename.push(name);
    }
    texts.set(name, new TextDecoder().decode(bytes));
  }
  return { texts, toRename, lost };
}

export function markOf(text: string): FileMark {
  return { bytes: Buffer.byteLength(text), crc: checksum(text) };
}

/**
 * Writes the `.next` files. Also syncs the directory, so that files with a mark exist after a crash.
 */
export async function prepareExtensions(
  { fs, paths }: StoredInstance,
  texts: ReadonlyMap<string, string>,
  changed: readonly string[],
): Promise<void> {
  if (changed.length === 0) return;
  await fs.makeFolder(paths.extensions);
  await fs.syncFolder(paths.folder);
  await together(changed.map((name) => prepareFile(fs, paths.extension(name), Buffer.from(texts.get(name) ?? ''))));
  await fs.syncFolder(paths.extensions);
}

/**
 * Renames the `.next` files. The renames are durable when the promise resolves, because the next write of a state must
 * not overwrite a file that is still needed.
 */
export async function placeExtensions({ fs, paths }: StoredInstance, changed: readonly string[]): Promise<void> {
  for (const name of changed) await fs.rename(nextOf(paths.extension(name)), paths.extension(name));
  if (changed.length > 0) await fs.syncFolder(paths.extensions);
}

/** Removes the files of states that do not exist any more, and leftover drafts. Copies of damaged files stay. */
export async function removeStrayExtensions({ fs, paths }: StoredInstance, names: Iterable<string>): Promise<void> {
  const expected = new Set(Array.from(names, (name) => paths.extension(name)));
  for (const name of (await fs.list(paths.extensions)) ?? []) {
    const path = join(paths.extensions, name);
    const isStray = name.endsWith('.json.next') || (name.endsWith('.json') && !expected.has(path));
    if (isStray) await fs.remove(path);
  }
}

export function parseExtensions(texts: ReadonlyMap<string, string>): Record<string, JsonValue> {
  // Safe: the checksums match the commit record, so planCommit made these JSON texts.
  return Object.fromEntries(Array.from(texts, ([name, text]) => [name, JSON.parse(text) as JsonValue]));
}
