/** Describes the files of a changeset for the person who decides about it: every line that changes, and nothing cut. */
import { createTwoFilesPatch } from 'diff';
import type { FileChange } from '../../ipc/changeset-answers.ts';
import type { ComparedFile } from './changesets.ts';

const CONTEXT = 3;

/**
 * The maximum number of added and removed lines for which the shortest difference is searched. The search takes time in
 * proportion to the product of this number and the length of the file.
 */
const MOST_EDITS = 1_000;

/** Returns each file with its difference in unified format, sorted by path. */
export function describeFiles(files: readonly ComparedFile[]): FileChange[] {
  return files
    .map((file) => ({ path: file.path, change: file.change, diff: describeFile(file) }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function describeFile({ path, old, new: after }: ComparedFile): string {
  const names = [old === null ? '/dev/null' : `a/${path}`, after === null ? '/dev/null' : `b/${path}`] as const;
  if (old === undefined)
    return `The old content of ${path} is not known. The new content:\n${replaceAll(names, '', after ?? '')}`;
  if (old === null || after === null) return replaceAll(names, old ?? '', after ?? '');
  const patch = createTwoFilesPatch(...names, old, after, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: MOST_EDITS,
  });
  return patch === undefined ? replaceAll(names, old, after) : withoutRule(patch);
}

/** Removes the line of `=` above the names, which only separates patches of several files. */
function withoutRule(patch: string): string {
  return patch.replace(/^=+\n/, '');
}

/** Shows a file with very many changes as one change, from all old lines to all new ones. */
function replaceAll([oldName, newName]: readonly [string, string], old: string, after: string): string {
  const [before, now] = [linesOf(old), linesOf(after)];
  return [
    `--- ${oldName}`,
    `+++ ${newName}`,
    `@@ -${rangeOf(before.lines)} +${rangeOf(now.lines)} @@`,
    ...before.lines.map((line) => `-${line}`),
    ...before.note,
    ...now.lines.map((line) => `+${line}`),
    ...now.note,
    '',
  ].join('\n');
}

function linesOf(text: string): { readonly lines: readonly string[]; readonly note: readonly string[] } {
  if (text === '') return { lines: [], note: [] };
  if (text.endsWith('\n')) return { lines: text.slice(0, -1).split('\n'), note: [] };
  return { lines: text.split('\n'), note: ['\\ No newline at end of file'] };
}

function rangeOf(lines: readonly string[]): string {
  return lines.length === 0 ? '0,0' : `1,${lines.length}`;
}
