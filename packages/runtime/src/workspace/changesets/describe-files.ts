/** Describes the files of a changeset for the person who decides about it: every line that changes, and nothing cut. */
import type { FileChange } from '../../ipc/changeset-answers.ts';
import type { ComparedFile } from './changesets.ts';

/** Returns each file with its difference in unified format, sorted by path. */
export async function describeFiles(files: readonly ComparedFile[]): Promise<FileChange[]> {
  // Imported when the first changeset is shown, because most swarms never have one.
  const { unifiedDiff } = await import('./unified-diff.ts');
  return files
    .map((file) => ({ path: file.path, change: file.change, diff: describeFile(file, unifiedDiff) }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function describeFile(
  { path, old, new: after }: ComparedFile,
  unifiedDiff: typeof import('./unified-diff.ts').unifiedDiff,
): string {
  if (old !== undefined) return unifiedDiff(path, old, after);
  return `${path} was edited by hand since the changeset read it. The content in the changeset:\n${unifiedDiff(path, null, after)}`;
}
