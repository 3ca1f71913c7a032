import type { FileChange } from '../../ipc/changeset-answers.ts';
import type { ComparedFile } from './changesets.ts';
import { unifiedDiff } from './unified-diff.ts';

/** Returns the changes of a changeset for a person to read: every file, with its whole difference. */
export function fileChanges(compared: readonly ComparedFile[]): FileChange[] {
  return compared.map(({ path, change, old, new: text }) => ({
    path,
    change,
    diff: unifiedDiff(path, old ?? null, text),
  }));
}
