/**
 * The name of a server's tool for the model: `{extension}__{tool}`. People read it in questions and rules, so it has at
 * most 64 characters of `A-Z a-z 0-9 _ -`, and no second `__`. Servers may use other characters and longer names.
 *
 * 1. A name that fits is kept.
 * 2. In any other name, invalid characters become `-`; the name is cut, and `-` with eight digits of its hash is added.
 * 3. Two tools never get the same name, and a tool keeps its name as long as the agent's process runs.
 */
const LONGEST = 64;
const fitting = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;

export class ToolNames {
  readonly #extension: string;
  readonly #room: number;
  readonly #names = new Map<string, string>();
  readonly #taken: Set<string>;

  /** `reserved` lists the names that the extension itself uses, without its prefix. */
  constructor(extension: string, reserved: readonly string[]) {
    this.#extension = extension;
    this.#room = LONGEST - extension.length - 2;
    this.#taken = new Set(reserved);
  }

  /**
   * Assigns names to new tools. Tools that keep their names come first, so that no changed name is equal to one of
   * those names.
   */
  assign(tools: readonly string[]): void {
    const unknown = tools.filter((tool) => !this.#names.has(tool));
    for (const tool of unknown) if (this.#fits(tool)) this.#give(tool, tool);
    for (const tool of unknown) if (!this.#names.has(tool)) this.#give(tool, this.#derive(tool));
  }

  /** Returns the assigned name of a tool; `assign` must have been called with the tool. */
  of(tool: string): string {
    return `${this.#extension}__${this.#names.get(tool) ?? this.#derive(tool)}`;
  }

  #fits(tool: string): boolean {
    return tool.length <= this.#room && fitting.test(tool) && !this.#taken.has(tool);
  }

  #give(tool: string, name: string): void {
    this.#names.set(tool, name);
    this.#taken.add(name);
  }

  #derive(tool: string): string {
    const hash = new Bun.CryptoHasher('sha256').update(tool).digest('hex');
    const clean = tool.replaceAll(/[^A-Za-z0-9_-]/g, '-').replaceAll(/__+/g, '_');
    for (let digits = 8; ; digits += 1) {
      const start = clean.slice(0, Math.max(0, this.#room - digits - 1)).replaceAll(/^_+|_+$/g, '');
      const name = `${start}-${hash.slice(0, digits)}`;
      if (!this.#taken.has(name) || digits >= hash.length) return name;
    }
  }
}
