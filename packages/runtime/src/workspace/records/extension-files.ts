/**
 * The state of extensions on disk. A commit writes `<name>.json.next` before it and renames it after it; in between, the
 * commit record's checksum says which of the two files counts.
 */
import { join } from 'node:path';
import type { JsonValue } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import { nextOf, type InstancePaths } from '../layout/instance-paths.ts';
import { prepareFile } from '../lines/replace-file.ts';
import { together } from '../lines/together.ts';
import { type CommitRecord, matches } from './metadata.ts';

export interface ExtensionFiles {
  /** What is committed, by extension name. */
  readonly texts: ReadonlyMap<string, string>;
  /** Those whose `.next` file counts. */
  readonly toRename: readonly string[];
  /** The path of the first file that should match the commit record and does not. */
  readonly damaged?: string;
  /** The names of the extensions whose file is damaged. */
  readonly lost: readonly string[];
}

export async function readExtensionFiles(fs: Fs, paths: InstancePaths, commit: CommitRecord): Promise<ExtensionFiles> {
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
  return { texts, toRename, lost, ...(first !== undefined && { damaged: paths.extension(first) }) };
}

/** Before the commit. The names are durable too, because the commit record counts on them. */
export async function prepareExtensions(
  fs: Fs,
  paths: InstancePaths,
  texts: ReadonlyMap<string, string>,
  changed: readonly string[],
): Promise<void> {
  if (changed.length === 0) return;
  await together(changed.map((name) => prepareFile(fs, paths.extension(name), Buffer.from(texts.get(name) ?? ''))));
  await fs.syncFolder(paths.extensions);
}

/**
 * After the commit. Durable when it resolves: the next commit writes the `.next` files again, and must not find one
 * that still counts.
 */
export async function placeExtensions(
  fs: Fs,
  paths: InstancePaths,
  changed: readonly string[],
  removed: readonly string[],
): Promise<void> {
  for (const name of changed) await fs.rename(nextOf(paths.extension(name)), paths.extension(name));
  for (const name of removed) await fs.remove(paths.extension(name));
  if (changed.length + removed.length > 0) await fs.syncFolder(paths.extensions);
}

/** After recovery: files that no commit counts on. Copies kept aside stay. */
export async function removeStrayExtensions(fs: Fs, paths: InstancePaths, commit: CommitRecord): Promise<void> {
  const expected = new Set(Object.keys(commit.extensions).map((name) => paths.extension(name)));
  for (const name of (await fs.list(paths.extensions)) ?? []) {
    const path = join(paths.extensions, name);
    const isStray = name.endsWith('.json.next') || (name.endsWith('.json') && !expected.has(path));
    if (isStray) await fs.remove(path);
  }
}

export function parseExtensions(texts: ReadonlyMap<string, string>): Record<string, JsonValue> {
  // Checked against the commit record: these are JSON texts that planCommit made.
  return Object.fromEntries(Array.from(texts, ([name, text]) => [name, JSON.parse(text) as JsonValue]));
}
