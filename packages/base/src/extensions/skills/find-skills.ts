/**
 * Finds the skills in some folders. A missing folder has no skills; an invalid skill does not affect the others.
 *
 * Invariants:
 * 1. If two skills have the same name, the first skill is used, and the second one is reported.
 * 2. An unchanged file is not read again.
 * 3. At most `MOST_SKILLS` skills are found, and at most `MOST_SKILLS` entries of each folder are examined.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ParsedSkill, parseSkill } from './parse-skill.ts';
import type { Skill } from './skill.ts';

const MOST_SKILLS = 500;
const LONGEST_FILE = 262_144;

interface LookedAt {
  readonly stamp: string;
  readonly parsed: ParsedSkill;
}

export class SkillFinder {
  /** The state of each file when it was last read, by path. */
  #known = new Map<string, LookedAt>();

  /** Returns the skills in alphabetical order, and the problems found, each with the path of the file. */
  find(folders: readonly string[]) {
    const skills = new Map<string, Skill>();
    const problems: string[] = [];
    const seen = new Map<string, LookedAt>();
    for (const path of folders.flatMap(listFolders)) {
      const file = join(path, 'SKILL.md');
      const looked = this.#look(file, path);
      if (looked === undefined) continue;
      seen.set(file, looked);
      const { parsed } = looked;
      if ('problem' in parsed) problems.push(`${file}: ${parsed.problem}`);
      else if (skills.has(parsed.skill.name))
        problems.push(`${file}: another skill "${parsed.skill.name}" was found first`);
      else if (skills.size >= MOST_SKILLS) problems.push(`${file}: there are more than ${MOST_SKILLS} skills`);
      else skills.set(parsed.skill.name, { ...parsed.skill, folder: realpathSync(path) });
    }
    this.#known = seen;
    return { skills: [...skills.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)), problems };
  }

  #look(file: string, folder: string): LookedAt | undefined {
    try {
      const { size, mtimeMs, isFile } = readStat(file);
      const stamp = `${size} ${mtimeMs}`;
      const known = this.#known.get(file);
      if (known?.stamp === stamp) return known;
      if (!isFile) return { stamp, parsed: { problem: 'it is not a file' } };
      if (size > LONGEST_FILE) return { stamp, parsed: { problem: `it has more than ${LONGEST_FILE} bytes` } };
      return { stamp, parsed: parseSkill(readFileSync(file, 'utf8'), lastPart(folder)) };
    } catch {
      // The folder is not a skill, or a skill that is still being written.
      return undefined;
    }
  }
}

function readStat(file: string) {
  const stat = statSync(file);
  return { size: stat.size, mtimeMs: stat.mtimeMs, isFile: stat.isFile() };
}

function lastPart(path: string): string {
  return path.split('/').at(-1) ?? '';
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => name)
      .toSorted()
      .slice(0, MOST_SKILLS)
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}
