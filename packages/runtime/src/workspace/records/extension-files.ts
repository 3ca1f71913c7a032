/**
 * Stores the states of extensions on disk. `<name>.json.next` is written before the commit and renamed to `<name>.json`
 * after it. In between, the checksum in the commit record decides which of the two files is valid.
 */
import { join } from 'node:path';
import type { JsonValue } from '@goondan/types';
import { nextOf, type StoredInstance } from '../layout/instance-paths.ts';
import { prepareFile } from '../lines/replace-file.ts';
import { together } from '../lines/together.ts';
import { type CommitRecord, matches } from './metadata.ts';

/**
 * Reads the committed states. `texts`: the states by extension name. `toRename`: names of extensions whose `.next` file
 * is the valid one. `lost`: names of extensions with a file that does not match the commit record. `damaged`: the path
 * of the first such file.
 */
export async function readExtensionFiles({ fs, paths }: StoredInstance, commit: CommitRecord) {
  const texts = new Map<string, string>();
  const toRename: string[] = [];
  const lost: string[] = [];
  for (const [name, mark] of Object.entries(commit.extensions)) {
    const path = paths.extension(name);
    let bytes = await fs.read(path);
    if (!bytes || !matches(bytes, mark)) {
      bytes = await fs.read(nextOf(path));
      if (!bytes || !matches(bytes, mark)) {
        lost.push(name);
        continue;
      }
      toRename.push(name);
    }
    texts.set(name, new TextDecoder().decode(bytes));
  }
  const [first] = lost;
  return { texts, toRename, lost, damaged: first === undefined ? undefined : paths.extension(first) };
}

/**
 * Writes the `.next` files, before the commit. Also syncs the directory, so that the files the commit record refers to
 * exist after a crash.
 */
export async function prepareExtensions(
  { fs, paths }: StoredInstance,
  texts: ReadonlyMap<string, string>,
  changed: readonly string[],
): Promise<void> {
  if (changed.length === 0) return;
  await together(changed.map((name) => prepareFile(fs, paths.extension(name), Buffer.from(texts.get(name) ?? ''))));
  await fs.syncFolder(paths.extensions);
}

/**
 * Renames the `.next` files, after the commit. The renames are durable when the promise resolves, because the next
 * commit writes new `.next` files and must not overwrite a file that is still needed.
 */
export async function placeExtensions(
  { fs, paths }: StoredInstance,
  changed: readonly string[],
  removed: readonly string[],
): Promise<void> {
  for (const name of changed) await fs.rename(nextOf(paths.extension(name)), paths.extension(name));
  for (const name of removed) await fs.remove(paths.extension(name));
  if (changed.length + removed.length > 0) await fs.syncFolder(paths.extensions);
}

/** Removes files that the commit does not refer to, after recovery. Copies of damaged files stay. */
export async function removeStrayExtensions({ fs, paths }: StoredInstance, commit: CommitRecord): Promise<void> {
  const expected = new Set(Object.keys(commit.extensions).map((name) => paths.extension(name)));
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
