import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export interface SkillPlaces {
  readonly workdir: string;
  readonly bundleFolder: string;
  /** Relative to the bundle, or absolute. */
  readonly folders: readonly string[];
  /** Whether the user's folders are used. */
  readonly includesHome: boolean;
  readonly home?: string;
}

/** The conventional folders for skills; our own is in the middle. */
const conventional = ['.agents/skills', '.goondan/skills', '.claude/skills'];

/** Lists the folders by precedence: configured, of the bundle, of the project, of the user. Each once. */
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
