import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { TurnMiddlewareContext } from '@goondan/types';

/** The conventional folders for skills, in order of precedence. */
const conventional = ['.agents/skills', '.goondan/skills', '.claude/skills'];

/**
 * Lists the folders in order of precedence: those from the config, then those of the bundle, of the project and of the
 * user. Each folder is listed once. Folders from the config are absolute, or relative to the bundle.
 */
export function skillFolders(
  { workdir, bundleFolder }: Pick<TurnMiddlewareContext, 'workdir' | 'bundleFolder'>,
  configured: readonly string[],
  includesHome: boolean,
  home = homedir(),
): string[] {
  const own = configured.map((folder) => (isAbsolute(folder) ? folder : resolve(bundleFolder, folder)));
  const roots = [bundleFolder, workdir, ...(includesHome ? [home] : [])];
  const found = roots.flatMap((root) => conventional.map((folder) => join(root, folder)));
  return [...new Set([...own, ...found])];
}
