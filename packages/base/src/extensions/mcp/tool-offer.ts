/**
 * Offers the tools of a server as tools of the agent. A tool cannot be unregistered, so a removed or withheld tool is
 * left out of every step's catalog, and a call to it fails with the reason.
 */
import { type ExtensionToolsApi, GoondanError, type ToolCatalogItem, type ToolHandler } from '@goondan/types';
import { cleanSchema } from './clean-schema.ts';
import { cleanText } from '../../text/clean-text.ts';
import { type Fingerprints, judgeTools, type Knowledge, MOST_TOOLS, type Withheld } from './judge-tools.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { ListedTool } from './mcp-client.ts';
import type { ToolNames } from './tool-names.ts';

/** The maximum length of the description of a tool, or of a part of its schema. */
const LONGEST_DESCRIPTION = 4_096;

export interface OfferDeps {
  readonly extension: string;
  readonly tools: ExtensionToolsApi;
  readonly names: ToolNames;
  readonly logger: Pick<Console, 'info' | 'warn'>;
  /** Calls a tool by the server's name for it. */
  readonly call: (tool: ListedTool, ...args: Parameters<ToolHandler>) => ReturnType<ToolHandler>;
}

export class ToolOffer {
  /** The fingerprints of the registered tools, by their names in the catalog. */
  readonly #registered = new Map<string, string>();
  #listed: readonly ListedTool[] = [];
  #offered: ReadonlyMap<string, ListedTool> = new Map();
  /** The names of the offered tools in the catalog. */
  #offeredNames: ReadonlySet<string> = new Set();
  #withheld: readonly Withheld[] = [];
  #seen: Fingerprints = new Map();

  constructor(private readonly deps: OfferDeps) {}

  get seen(): Fingerprints {
    return this.#seen;
  }

  get withheld(): readonly Withheld[] {
    return this.#withheld;
  }

  /** The names of the offered tools in the catalog. */
  get offeredNames(): ReadonlySet<string> {
    return this.#offeredNames;
  }

  /** Adds the fingerprints of tools that an earlier process saw. Fingerprints that this process saw take precedence. */
  remember(seen: Fingerprints): void {
    this.#seen = new Map([...seen, ...this.#seen]);
  }

  /** Replaces the offered tools with the server's current ones. */
  update(listed: readonly ListedTool[], knowledge: Omit<Knowledge, 'seen'>): void {
    const { logger } = this.deps;
    if (listed.length > MOST_TOOLS) {
      logger.warn(`mcp.cut: the server lists ${listed.length} tools; the first ${MOST_TOOLS} are used.`);
    }
    const { offered, withheld, seen } = judgeTools(listed, { ...knowledge, seen: this.#seen });
    const before = this.#offered;
    this.#listed = listed;
    this.#seen = seen;
    this.deps.names.assign(offered.map(({ name }) => name));
    this.#tellWithheld(withheld);
    this.#withheld = withheld;
    this.#offered = new Map(offered.filter((tool) => this.#register(tool)).map((tool) => [tool.name, tool]));
    this.#offeredNames = new Set([...this.#offered.keys()].map((tool) => this.deps.names.of(tool)));
    this.#tellOffered(before);
  }

  /** Judges the current tools again. */
  reconsider(knowledge: Omit<Knowledge, 'seen'>): void {
    this.update(this.#listed, knowledge);
  }

  /** Tells whether a tool of the catalog belongs to this server and must not be offered. */
  hides(name: string): boolean {
    return this.#registered.has(name) && !this.#offeredNames.has(name);
  }

  get hidesAny(): boolean {
    return this.#registered.size > this.#offered.size;
  }

  /** Throws if the tool is not offered now. **Errors** — `E_MCP_TOOL_CHANGED`, `E_MCP_TOOL_GONE`. */
  check(tool: string): void {
    if (this.#offered.has(tool)) return;
    const { extension } = this.deps;
    const withheld = this.#withheld.find((each) => each.tool.name === tool);
    if (withheld === undefined) {
      throw new GoondanError('E_MCP_TOOL_GONE', `MCP server "${extension}" has no tool "${tool}" any more.`);
    }
    throw new GoondanError('E_MCP_TOOL_CHANGED', `"${tool}" of MCP server "${extension}": ${withheld.problem}.`);
  }

  /** Registers a tool. Returns false when another extension has already taken the name. */
  #register(tool: ListedTool): boolean {
    const { tools, names, logger, call } = this.deps;
    const name = names.of(tool.name);
    const fingerprint = fingerprintOf(tool);
    if (this.#registered.get(name) === fingerprint) return true;
    try {
      const server = { extension: this.deps.extension, tool: tool.name, fingerprint };
      tools.register(toItem(name, tool), (ctx, input) => call(tool, ctx, input), { server });
    } catch (error) {
      logger.warn(`mcp.taken: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
    this.#registered.set(name, fingerprint);
    return true;
  }

  #tellOffered(before: ReadonlyMap<string, ListedTool>): void {
    const added = [...this.#offered.keys()].filter((name) => !before.has(name));
    const removed = [...before.keys()].filter((name) => !this.#offered.has(name));
    if (added.length + removed.length === 0) return;
    const { logger, names } = this.deps;
    const list = (tools: readonly string[]) => tools.map((tool) => names.of(tool)).join(', ');
    const parts = [
      ...(added.length === 0 ? [] : [`offered: ${list(added)}`]),
      ...(removed.length === 0 ? [] : [`no longer: ${list(removed)}`]),
    ];
    logger.info(`mcp.tools: ${parts.join('; ')}.`);
  }

  /** Reports each withheld tool once. */
  #tellWithheld(withheld: readonly Withheld[]): void {
    const known = new Set(this.#withheld.map(({ fingerprint }) => fingerprint));
    const { extension, logger } = this.deps;
    for (const { tool, fingerprint, problem, reason } of withheld) {
      if (known.has(fingerprint)) continue;
      const name = cleanText(tool.name, 128);
      const said = `mcp.withheld: "${name}" is not offered: ${problem}.`;
      if (reason === 'unusable') logger.info(said);
      else logger.warn(`${said} Look at it, then: gdn mcp approve ${extension}`);
    }
  }
}

function toItem(name: string, { description = '', inputSchema, annotations = {} }: ListedTool): ToolCatalogItem {
  const { $schema: _draft, ...schema } = inputSchema;
  const { title, readOnlyHint, idempotentHint } = annotations;
  return {
    name,
    description: cleanText(description, LONGEST_DESCRIPTION),
    parameters: cleanSchema(schema, LONGEST_DESCRIPTION),
    annotations: {
      readOnly: readOnlyHint === true,
      idempotent: idempotentHint === true,
      // The hints of the server decide whether a tool may run in parallel, but every tool of a server counts as
      // `external`.
      effects: 'external',
      ...(typeof title === 'string' ? { title: cleanText(title, 128) } : {}),
    },
  };
}
