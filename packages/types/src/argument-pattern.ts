/** The patterns with which rules examine the arguments of tool calls. `gdn validate` and the extension check them alike. */
import type { JsonValue } from './json.ts';

/** A plain text is a glob. A value of any other type must equal the argument. */
export type ArgumentPattern = JsonValue | { equals: JsonValue } | { glob: string };

/** The maximum length of a glob, in characters. */
export const LONGEST_GLOB = 999;

export function findPatternProblem(pattern: JsonValue): { message: string; suggestion?: string } | undefined {
  if (typeof pattern === 'string') return findGlobProblem(pattern);
  if (typeof pattern !== 'object' || pattern === null || Array.isArray(pattern)) return undefined;
  const [kind, ...others] = Object.keys(pattern);
  if (others.length === 0 && kind === 'glob') return findGlobProblem(pattern.glob);
  if (others.length === 0 && kind === 'equals') return undefined;
  if (Object.hasOwn(pattern, 'regex')) return { message: 'regex is not supported', suggestion: globInstead };
  return { message: 'a pattern is a value, or has one of equals, glob' };
}

const globInstead =
  'Write a glob, which matches the whole text: `*` is any number of characters, `?` is one. `^git ` becomes `git *`, ' +
  '`secret` becomes `*secret*`, and `a|b` becomes two rules.';

function findGlobProblem(glob: JsonValue | undefined): { message: string } | undefined {
  if (typeof glob !== 'string') return { message: 'glob is not a text' };
  return Array.from(glob).length > LONGEST_GLOB ? { message: `the pattern "${glob}" is too long` } : undefined;
}
