/** One skill, from its `SKILL.md`. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The folder it is in, a real path. */
  readonly folder: string;
  /** The text of `SKILL.md` below its front matter. */
  readonly body: string;
}
