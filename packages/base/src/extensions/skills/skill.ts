/** A skill, read from its `SKILL.md`. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The real path of the skill's folder. */
  readonly folder: string;
  /** The text of `SKILL.md` below its front matter. */
  readonly body: string;
}
