/** Finds images and files that conversations of a backup name, and that the backup lacks or has damaged. */
import { REMOVED } from '../blobs/blob-paths.ts';
import { describeLostFile, findLostFiles, type LostFile } from '../blobs/find-lost-files.ts';
import { bytesFolder } from './backup-plan.ts';
import type { BackupSource } from './backup-source.ts';
import { type BackupWriter, unlessUnreadable } from './backup-writer.ts';
import type { BackupManifest } from './manifest.ts';

/** Reads the copied workspace, which is complete. Returns one line of text for each file and conversation. */
export async function findLostCopies({ fs, workspace }: BackupSource, writer: BackupWriter): Promise<string[]> {
  const pathOf = (digest: string) => `${bytesFolder}/${digest}`;
  const digestOf = (digest: string) => writer.digestOf(pathOf(digest)) ?? writer.digestOf(pathOf(digest) + REMOVED);
  /** Bytes that came, or were moved back, after their folder was listed are copied now. */
  const copy = async (digest: string) => {
    const from = `${workspace}/${pathOf(digest)}`;
    const entry = await fs.look(from).catch(() => undefined);
    if (entry?.kind === 'file') await unlessUnreadable(() => writer.copy(from, pathOf(digest), entry.size, 0));
  };
  const readDigest = async (digest: string) => {
    if (digestOf(digest) === undefined) await copy(digest);
    return digestOf(digest);
  };
  const lost = await findLostFiles({ fs, workspace: writer.root, readDigest, original: workspace, isThorough: true });
  return lost.map(describeLostFile);
}

/**
 * Finds the same in a restored workspace, without reading the bytes again: their checksums are those of the manifest. A backup
 * of this version has them among its problems, and then they are not returned.
 */
export async function findLostRestored(
  fs: BackupSource['fs'],
  workspace: string,
  { files, problems }: Pick<BackupManifest, 'files' | 'problems'>,
): Promise<string[]> {
  const known = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const pathOf = (digest: string) => `${bytesFolder}/${digest}`;
  const readDigest = async (digest: string) => known.get(pathOf(digest)) ?? known.get(pathOf(digest) + REMOVED);
  const lost = await findLostFiles({ fs, workspace, readDigest });
  const isTold = ({ digest }: LostFile) => problems.some((problem) => problem.includes(digest));
  return lost.filter((file) => !isTold(file)).map(describeLostFile);
}
