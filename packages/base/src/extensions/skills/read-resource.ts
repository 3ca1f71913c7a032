/** Lists and reads the files next to a `SKILL.md`. Nothing outside the skill's folder is read. */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { GoondanError } from '@goondan/types';
import type { Skill } from './skill.ts';

const MOST_FILES = 200;
const DEEPEST = 4;
const LONGEST_FILE = 262_144;

/** Lists the first `MOST_FILES` paths, relative to the skill's folder and in alphabetical order. */
export function listResources({ folder }: Skill): string[] {
  const files: string[] = [];
  walk(folder, 0);
  return files;

  function walk(path: string, depth: number): void {
    if (depth > DEEPEST) return;
    const entries = readdirSync(path, { withFileTypes: true }).toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    );
    for (const entry of entries) {
      if (files.length >= MOST_FILES) return;
      const below = join(path, entry.name);
      if (entry.isDirectory()) walk(below, depth + 1);
      else if (entry.isFile() && below !== join(folder, 'SKILL.md')) files.push(relative(folder, below));
    }
  }
}

/** Reads one file of a skill. **Errors** — `E_SKILL_FILE`. */
export function readResource({ folder, name }: Skill, file: string): string {
  const refuse = (problem: string) =>
    new GoondanError('E_SKILL_FILE', `The file "${file}" of skill "${name}" ${problem}.`);
  let path: string;
  try {
    path = realpathSync(join(folder, file));
  } catch {
    throw refuse('does not exist');
  }
  // `path` is a real path, so neither `..` nor a symbolic link can lead out of the folder.
  if (!path.startsWith(folder + sep)) throw refuse('is not inside the folder of the skill');
  const stat = statSync(path);
  if (!stat.isFile()) throw refuse('is not a file');
  if (stat.size > LONGEST_FILE) throw refuse(`has more than ${LONGEST_FILE} bytes`);
  const bytes = readFileSync(path);
  if (bytes.includes(0)) throw refuse('is not text');
  return bytes.toString('utf8');
}
