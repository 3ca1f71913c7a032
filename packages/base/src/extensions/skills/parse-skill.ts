/** Parses the text of a `SKILL.md`. Returns a skill or a problem. */
import { isObject } from '../../json/is-object.ts';
import type { Skill } from './skill.ts';

export type ParsedSkill = { readonly skill: Omit<Skill, 'folder'> } | { readonly problem: string };

const LONGEST_HEAD = 16_384;
const LONGEST_DESCRIPTION = 1_024;
const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Parses a skill. The skill's name must equal `folderName`, the name of its folder. */
export function parseSkill(text: string, folderName: string): ParsedSkill {
  const [, head, body] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  if (head === undefined) return { problem: 'it does not begin with a front matter between two lines of ---' };
  if (head.length > LONGEST_HEAD) return { problem: `its front matter has more than ${LONGEST_HEAD} characters` };
  const fields = readFields(head);
  if (typeof fields === 'string') return { problem: fields };
  const problem = findNameProblem(fields.name, folderName) ?? findDescriptionProblem(fields.description);
  if (problem !== undefined) return { problem };
  return { skill: { name: folderName, description: String(fields.description).trim(), body: (body ?? '').trim() } };
}

function readFields(head: string): { readonly name?: unknown; readonly description?: unknown } | string {
  try {
    const fields: unknown = Bun.YAML.parse(head);
    return isObject(fields) ? fields : 'its front matter has no fields';
  } catch (error) {
    return `its front matter is not YAML: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function findNameProblem(name: unknown, folderName: string): string | undefined {
  if (typeof name !== 'string' || name === '') return 'its front matter has no name';
  if (name.length > 64 || !namePattern.test(name))
    return `its name "${name}" is not 1 to 64 lower-case letters, digits and single hyphens`;
  return name === folderName ? undefined : `its name "${name}" is not that of its folder, "${folderName}"`;
}

function findDescriptionProblem(description: unknown): string | undefined {
  if (typeof description !== 'string' || description.trim() === '') return 'its front matter has no description';
  return description.length > LONGEST_DESCRIPTION
    ? `its description has more than ${LONGEST_DESCRIPTION} characters`
    : undefined;
}
