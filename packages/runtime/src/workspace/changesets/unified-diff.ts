/**
 * The difference of two texts in unified format, with three lines of context. Nothing is left out: `patch` makes the new
 * text from the old one and the difference. The effort is bounded: texts that differ in too many lines are shown as one
 * replaced block.
 */
import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from 'diff';

/** The maximum number of lines to find as removed or added; beyond that, the text is replaced as a whole. */
const MOST_DIFFERENT = 400;
const CONTEXT = 3;

/** Returns an empty text if the texts are equal. `null`: there is no file. */
export function unifiedDiff(path: string, oldText: string | null, newText: string | null): string {
  if (oldText === newText) return '';
  const names = [oldText === null ? '/dev/null' : `a/${path}`, newText === null ? '/dev/null' : `b/${path}`] as const;
  const compare: Compare = (before, after, maxEditLength) =>
    structuredPatch(...names, before, after, undefined, undefined, { context: CONTEXT, maxEditLength });
  const [before, after] = [oldText ?? '', newText ?? ''];
  const isWhole = before === '' || after === '';
  const patch = compare(before, after, isWhole ? Infinity : MOST_DIFFERENT) ?? replaceAll(compare, before, after);
  return formatPatch(patch, FILE_HEADERS_ONLY);
}

type Compare = (before: string, after: string, maxEditLength: number) => StructuredPatch | undefined;

function replaceAll(compare: Compare, before: string, after: string): StructuredPatch {
  const [removed, added] = [compare(before, '', Infinity), compare('', after, Infinity)];
  const [old, fresh] = [removed?.hunks[0], added?.hunks[0]];
  if (removed === undefined || old === undefined || fresh === undefined) throw new Error('Both texts have lines.');
  const { newStart, newLines, lines } = fresh;
  return { ...removed, hunks: [{ ...old, newStart, newLines, lines: [...old.lines, ...lines] }] };
}
