import type { Fs } from '../../ports/fs.ts';
import { inboxFolder, instancesFolder } from '../layout/instance-paths.ts';
import { blobPaths, digestOfUse, isDraftOfUse, isUse, NEW, UPLOAD } from './blob-paths.ts';
import { findNamed } from './find-named.ts';

/** The names in the folder of an owner. */
export interface Uses {
  /** Uses that are marked as named, or whose bytes a file of the store names. */
  readonly named: readonly string[];
  /** Uses that a crash left: nothing names the bytes. While a swarm runs, something may be about to name them. */
  readonly left: readonly string[];
  /** Drafts that a crash left. */
  readonly drafts: readonly string[];
}

/** Reads the uses of one owner. Files of its conversation are read only for uses that are not marked as named. */
export async function readUses(
  fs: Pick<Fs, 'list' | 'read' | 'stat'>,
  workspace: string,
  owner: string,
): Promise<Uses> {
  const listed = (await fs.list(`${blobPaths(workspace).uses}/${owner}`)) ?? [];
  const names = listed.filter(isUse);
  const drafts = listed.filter(isDraftOfUse);
  const conversation = `${instancesFolder(workspace)}/${owner}`;
  const hasFolder = (await fs.stat(conversation)) !== undefined;
  const isSure = (name: string) => hasFolder && !name.endsWith(NEW);
  const doubtful = names.filter((name) => !isSure(name)).map(digestOfUse);
  const isUpload = owner.startsWith(UPLOAD);
  const places = [conversation, inboxFolder(workspace)];
  const found = doubtful.length === 0 || isUpload ? new Set<string>() : await findNamed(fs, places, doubtful);
  const isNamed = (name: string) => isSure(name) || found.has(digestOfUse(name));
  return { named: names.filter(isNamed), left: names.filter((name) => !isNamed(name)), drafts };
}
