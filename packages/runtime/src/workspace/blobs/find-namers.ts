/** Finds out who names stored bytes that no use names. */
import type { Fs } from '../../ports/fs.ts';
import { inboxFolder, instancesFolder } from '../layout/instance-paths.ts';
import { INBOX } from './blob-paths.ts';
import { findNamed } from './find-named.ts';

/** Reads the files of all conversations and the inbox. Returns the digests that each owner names, for owners with any. */
export async function findNamers(
  fs: Pick<Fs, 'list' | 'read'>,
  workspace: string,
  digests: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const namers = new Map<string, readonly string[]>();
  const look = async (owner: string, folder: string, wanted: readonly string[]) => {
    const found = await findNamed(fs, [folder], wanted);
    if (found.size > 0) namers.set(owner, [...found]);
  };
  const instances = instancesFolder(workspace);
  for (const name of (await fs.list(instances)) ?? []) {
    if (!name.startsWith('.')) await look(name, `${instances}/${name}`, digests);
  }
  const known = new Set([...namers.values()].flat());
  const rest = digests.filter((digest) => !known.has(digest));
  // The input of a conversation may come before its folder.
  if (rest.length > 0) await look(INBOX, inboxFolder(workspace), rest);
  return namers;
}
