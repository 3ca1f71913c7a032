/**
 * Returns why a text is not a glob of files in a bundle, as the end of a sentence that begins with the glob; `undefined` if
 * it is one. A glob that can never match, or that means more than it seems to, is a mistake of its author.
 */
export function findGlobProblem(glob: string): string | undefined {
  if (glob.trim() === '') return 'is empty';
  if (glob !== glob.trim()) return 'begins or ends with a space';
  if (glob.includes('\\')) return 'has a backslash; folders are separated by `/`';
  if (glob.startsWith('!')) return 'begins with `!`, which would allow every other file';
  if (glob.startsWith('/') || /^[A-Za-z]:/.test(glob)) return 'is an absolute path';
  const parts = glob.split('/');
  if (parts.includes('..')) return 'contains `..`';
  if (parts.some((part) => part === '.' || part === ''))
    return 'has an empty part; write it without `./`, `//` and a `/` at the end';
  return findUnbalanced(glob);
}

/** Finds a bracket or brace that is not closed, or not opened. Inside brackets, every character stands for itself. */
function findUnbalanced(glob: string): string | undefined {
  const withoutClasses = glob.replaceAll(/\[[!^]?\]?[^\]]*\]/g, '');
  if (withoutClasses.includes('[')) return 'has a `[` without a `]`';
  let depth = 0;
  for (const character of withoutClasses) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (depth < 0) return 'has a `}` without a `{`';
  }
  return depth === 0 ? undefined : 'has a `{` without a `}`';
}
