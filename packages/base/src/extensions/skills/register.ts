/**
 * `skills`: instructions that an agent opens when it needs them, in the Agent Skills format.
 *
 * An agent sees a skill in three stages:
 * 1. Its name and description, in the description of `skills__open`, which a provider caches together with the tools.
 * 2. The body of an open skill, as an ephemeral message, so that it does not accumulate in the history.
 * 3. The files next to `SKILL.md`, read one at a time.
 */
import {
  createSystemMessage,
  type ExtensionRegister,
  type JsonValue,
  type StepMiddlewareContext,
} from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { SkillFinder } from './find-skills.ts';
import type { Skill } from './skill.ts';
import { skillFolders } from './skill-folders.ts';
import { type SkillShelf, skillTools } from './skill-tools.ts';

export interface SkillsConfig {
  readonly folders?: readonly string[];
  /** `repoSkillDirs` is another name of `folders`. Folders under both names are searched in this order. */
  readonly discovery?: { readonly repoSkillDirs?: readonly string[] };
  readonly user?: boolean;
  /** The maximum number of open skills. Opening another one closes the skill that was opened first. */
  readonly maxOpen?: number;
}

export const register: ExtensionRegister<SkillsConfig> = (api, config) => {
  const { user = true, maxOpen = 3 } = config;
  const folders = [...(config.folders ?? []), ...(config.discovery?.repoSkillDirs ?? [])];
  const finder = new SkillFinder();
  const told = new Set<string>();
  let skills: readonly Skill[] = [];

  const shelf: SkillShelf = {
    find: (name) => skills.find((skill) => skill.name === name),
    all: () => skills,
    open: async (name) => setOpen([...(await readOpen()).filter((each) => each !== name), name].slice(-maxOpen)),
    close: async (name) => {
      const open = await readOpen();
      if (!open.includes(name)) return false;
      await setOpen(open.filter((each) => each !== name));
      return true;
    },
  };
  offer();

  api.pipeline.register(
    'turn',
    (ctx) => {
      const { skills: found, problems } = finder.find(skillFolders(ctx, folders, user));
      for (const problem of problems) warnOnce(problem);
      if (catalogOf(found) !== catalogOf(skills)) offer(found);
      skills = found;
      return ctx.next();
    },
    { name: 'find' },
  );

  api.pipeline.register(
    'step',
    async (ctx) => {
      for (const name of await readOpen()) show(name, ctx);
      return ctx.next();
    },
    { name: 'show' },
  );

  /** Adds the skill's text as a message, once per turn; it is removed at the end of the turn. */
  function show(name: string, ctx: StepMiddlewareContext): void {
    const skill = shelf.find(name);
    const id = `${ctx.turnId}.skill-${name}`;
    if (skill === undefined || ctx.conversationState.nextMessages.some((message) => message.id === id)) return;
    const text = `The skill "${name}" is open. Follow it where it applies.\n\n${skill.body}`;
    ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(text, {}, { id, lifetime: 'turn' }) });
  }

  function offer(found: readonly Skill[] = []): void {
    for (const { item, handler } of skillTools(found, shelf)) api.tools.register(item, handler);
  }

  function warnOnce(problem: string): void {
    if (told.has(problem) || told.size >= MOST_TOLD) return;
    told.add(problem);
    api.logger.warn(problem);
  }

  async function readOpen(): Promise<string[]> {
    return openIn(await api.state.get());
  }

  function setOpen(open: string[]): Promise<void> {
    return api.state.set({ open });
  }
};

const MOST_TOLD = 1_000;

function catalogOf(skills: readonly Skill[]): string {
  return JSON.stringify(skills.map(({ name, description }) => [name, description]));
}

function openIn(state: JsonValue): string[] {
  if (!isObject(state) || !Array.isArray(state.open)) return [];
  return state.open.filter((name) => typeof name === 'string');
}
