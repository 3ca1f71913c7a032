/**
 * Decides which paths no changeset may read or write, whatever the policy of a swarm allows. This is the only list of
 * such paths.
 */

/** Compared without regard to case and invisible characters, because some file systems ignore these. */
const FORBIDDEN_NAMES: ReadonlyMap<string, string> = new Map([
  ...['package.json', 'bunfig.toml', '.bunfig.toml', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs'].map(
    (name) => [name, 'decides which packages and which code the swarm runs'] as const,
  ),
  ...['package-lock.json', 'npm-shrinkwrap.json', 'bun.lock', 'bun.lockb', 'yarn.lock', 'pnpm-lock.yaml'].map(
    (name) => [name, 'is a lock file'] as const,
  ),
  ['pnpm-workspace.yaml', 'decides which packages and which code the swarm runs'],
  ['jsconfig.json', 'decides how imports are resolved'],
  ['.mcp.json', 'decides which MCP servers are started'],
  ['node_modules', 'holds installed packages'],
  ['.git', 'belongs to Git'],
]);

/** The beginning of the names of drafts: files that are written beside a file of the bundle before they replace it. */
export const DRAFT_PREFIX = '.changeset-';

const LONGEST_PATH = 1024;
const LONGEST_NAME = 200;

/**
 * Returns why a path, relative to the bundle's folder, is not for changesets, as the end of a sentence that begins with
 * the path; `undefined` if the path is permitted. Says nothing about links, which only the disk shows.
 *
 * @example findPathProblem('.env') // 'holds values of the environment'
 */
export function findPathProblem(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.length > LONGEST_PATH) return `is longer than ${LONGEST_PATH} characters`;
  if (!path.isWellFormed() || UNSAFE.test(path)) return 'has a character that is not permitted in a path';
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'is not relative to the folder of the bundle';
  for (const name of path.split('/')) {
    const problem = findNameProblem(name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Control characters, backslashes, and characters that are invisible or change the direction of text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\\]/u;

function findNameProblem(name: string): string | undefined {
  if (name === '..') return 'leads out of the bundle';
  if (name === '' || name === '.') return 'has an empty part; write it without `.` and `//`';
  if (name.length > LONGEST_NAME) return `has a part of more than ${LONGEST_NAME} characters`;
  if (/[. ]$/.test(name)) return 'has a part that ends with a dot or a space';
  const folded = foldPath(name);
  if (folded.startsWith('.env')) return 'holds values of the environment';
  if (folded.startsWith(DRAFT_PREFIX)) return 'is reserved for commits of changesets';
  if (/^tsconfig.*\.json$/.test(folded)) return 'decides how imports are resolved';
  return FORBIDDEN_NAMES.get(folded);
}

/** Returns the same text for paths that name the same file on a file system without regard to case. */
export function foldPath(path: string): string {
  return path.normalize('NFKC').toLowerCase().normalize('NFKC');
}
