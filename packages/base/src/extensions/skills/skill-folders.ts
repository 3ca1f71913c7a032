import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export interface SkillPlaces {
  readonly workdir: string;
  readonly bundleFolder: string;
  /** Folders from the config: absolute, or relative to the bundle. */
  readonly folders: readonly string[];
  /** If true, the skill folders in the user's home are used, too. */
  readonly includesHome: boolean;
  readonly home?: string;
}

/** The conventional folders for skills, in order of precedence. */
const conventional = ['.agents/skills', '.goondan/skills', '.claude/skills'];

/**
 * Lists the folders in order of precedence: from the config, of the bundle, of the project, of the user. Each is listed
 * once.
 */
export function skillFolders({
  workdir,
  bundleFolder,
  folders,
  includesHome,
  home = homedir(),
}: SkillPlaces): string[] {
  const configured = folders.map((folder) => (isAbsolute(folder) ? folder : resolve(bundleFolder, folder)));
  const roots = [bundleFolder, workdir, ...(includesHome ? [home] : [])];
  const found = roots.flatMap((root) => conventional.map((folder) => join(root, folder)));
  return [...new Set([...configured, ...found])];
}
