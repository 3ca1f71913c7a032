/** The tools for skills. */
import { GoondanError, type ToolCatalogItem, type ToolHandler } from '@goondan/types';
import { listResources, readResource } from './read-resource.ts';
import type { Skill } from './skill.ts';

/** Access to the known and the open skills. */
export interface SkillShelf {
  find(name: string): Skill | undefined;
  all(): readonly Skill[];
  open(name: string): Promise<void>;
  /** Closes a skill. Returns false when the skill was not open. */
  close(name: string): Promise<boolean>;
}

/** The maximum total length of the descriptions in the catalog; `skills__list` lists all skills. */
const LONGEST_CATALOG = 8_000;

export function skillTools(
  skills: readonly Skill[],
  shelf: SkillShelf,
): { readonly item: ToolCatalogItem; readonly handler: ToolHandler }[] {
  return [
    {
      item: { name: 'skills__list', description: 'Lists all skills.', ...parameters({}), annotations },
      handler: () => ({ skills: shelf.all().map(({ name, description }) => ({ name, description })) }),
    },
    {
      item: {
        name: 'skills__open',
        description: `Opens a skill: you get its instructions from your next step on. With file, reads a file of the skill instead.\n${describeCatalog(skills)}`,
        ...parameters({
          name: { type: 'string', description: 'Which skill.' },
          file: { type: 'string', description: 'A file of the skill, as the skill or its list of files names it.' },
        }),
        annotations,
      },
      handler: async (_ctx, input) => {
        // The cast is safe: the input was checked against the schema.
        const { name, file } = input as { name: string; file?: string };
        const skill = shelf.find(name);
        if (skill === undefined) throw unknown(name, shelf);
        if (file !== undefined) return { skill: name, file, content: readResource(skill, file) };
        await shelf.open(name);
        return { opened: name, files: listResources(skill) };
      },
    },
    {
      item: {
        name: 'skills__close',
        description: 'Closes a skill that is no longer needed.',
        ...parameters({ name: { type: 'string', description: 'Which skill.' } }),
        annotations,
      },
      handler: async (_ctx, { name }) => ({ closed: await shelf.close(name as string) }),
    },
  ];
}

const annotations = { readOnly: true, idempotent: true, effects: 'none' } as const;

function parameters(properties: Record<string, { type: string; description: string }>) {
  const required = Object.keys(properties).filter((name) => name !== 'file');
  return { parameters: { type: 'object' as const, additionalProperties: false, required, properties } };
}

function describeCatalog(skills: readonly Skill[]): string {
  if (skills.length === 0) return 'There are no skills.';
  let text = 'Skills:';
  for (const [index, { name, description }] of skills.entries()) {
    const line = `\n- ${name}: ${description.replaceAll(/\s+/g, ' ')}`;
    if (text.length + line.length > LONGEST_CATALOG) return `${text}\n(${skills.length - index} more: skills__list)`;
    text += line;
  }
  return text;
}

function unknown(name: string, shelf: SkillShelf): GoondanError {
  const names = shelf.all().map((skill) => skill.name);
  return new GoondanError(
    'E_SKILL_UNKNOWN',
    `There is no skill "${name}". Skills: ${names.slice(0, 50).join(', ') || 'none'}.`,
  );
}
