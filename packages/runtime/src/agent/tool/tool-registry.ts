/**
 * The tools of an agent: those declared in its plan and those registered by its extensions. Each part of an agent has a
 * registry of its own. The registry of the agent shows those of the parts in place.
 */
import {
  GoondanError,
  type JsonObject,
  type Message,
  type RuntimeTool,
  type ToolCatalogItem,
  type ToolHandler,
} from '@goondan/types';
import { copyJsonObject } from '../../json/copy-json.ts';
import { findSizeProblem } from '../../json/count-schema-nodes.ts';
import { defined } from '../../json/defined.ts';
import { checkToolName } from '../../config/tool-name.ts';
import { inNameOf } from '../pipeline/turn-error.ts';
import { problemWithItemFields } from './check-item-fields.ts';

/** A tool with everything the runtime knows about it; the catalog shows only `item`. */
export interface RegisteredTool {
  readonly item: ToolCatalogItem;
  /** Some tools in code also get the messages of the conversation. */
  readonly handler: (
    ...given: [...Parameters<ToolHandler>, messages?: () => readonly Message[]]
  ) => ReturnType<ToolHandler>;
  /** If true, the tool may run at the same time as other calls of its step. */
  readonly parallel: boolean;
  /** If true, the tool may run again after a crash left its outcome unknown. */
  readonly idempotent: boolean;
  readonly effects: 'none' | 'local' | 'external';
  /** The value of `ctx.config` in its handler. */
  readonly config: JsonObject;
  readonly errorMessageLimit: number | undefined;
  /** See `Asker.isPatient`; applies to the tool's requests to other agents. */
  readonly isPatient: boolean;
  /** Identifies the code and the server behind the tool; see `tool-fingerprint.ts`. */
  readonly provider: JsonObject;
  /** The extension that registered the tool; undefined for a declared tool. */
  readonly extension: string | undefined;
  /** Counts the registrations of all extensions of the agent: a later one has a higher number. 0 for a declared tool. */
  readonly number: number;
}

/** Called for a tool whose schema is too large. */
export type ReportRefusedTool = (problem: GoondanError, extension?: string) => void;

export class ToolRegistry {
  private readonly own = new Map<string, RegisteredTool>();
  private parts: readonly ToolRegistry[] = [];
  /** All tools: the own ones and those of the parts. */
  private merged: ReadonlyMap<string, RegisteredTool> | undefined;
  private listed: readonly ToolCatalogItem[] | undefined;
  private described: { readonly items: readonly ToolCatalogItem[]; readonly cards: readonly RuntimeTool[] } | undefined;
  /** The registry that shows this one. */
  private shownBy: ToolRegistry | undefined;

  /**
   * `onRefused` is called for a tool whose schema is too large. The tool is not offered; all others are. `isDeclared`
   * returns true for the name of a tool that another part declares. `nextNumber` counts registrations; the parts of an
   * agent share it.
   */
  constructor(
    private readonly onRefused: ReportRefusedTool = () => undefined,
    private readonly isDeclared: (name: string) => boolean = () => false,
    private readonly nextNumber: () => number = () => 0,
  ) {}

  /**
   * Shows the tools of these parts, in this order, and no others. Of two tools with the same name, the declared one is
   * shown, or else the one that was registered later. The tool keeps the position of the first.
   */
  show(parts: readonly ToolRegistry[]): void {
    for (const part of this.parts) part.shownBy = undefined;
    this.parts = parts;
    for (const part of parts) part.shownBy = this;
    this.changed();
  }

  declare(tool: Omit<RegisteredTool, 'extension' | 'number'>): void {
    const item = checkItem(tool.item, 'declared');
    if (this.isTooLarge(item)) return;
    if (this.own.has(item.name) || this.isDeclared(item.name)) {
      throw new GoondanError('E_TOOL_TAKEN', `Two declared tools are called "${item.name}".`);
    }
    this.own.set(item.name, { ...tool, item, extension: undefined, number: 0 });
    this.changed();
  }

  /**
   * Registers a tool of an extension. `provider`: the code and the server behind it. Registering the same name again
   * replaces the tool at its position in the catalog.
   */
  register(extension: string, item: unknown, handler: unknown, provider: JsonObject = {}): void {
    const checked = checkRegistered(extension, item, handler);
    const known = this.own.get(checked.name);
    if ((known !== undefined && known.extension === undefined) || this.isDeclared(checked.name)) {
      throw takenByDeclared(extension, checked.name);
    }
    this.changed();
    if (this.isTooLarge(checked, extension)) {
      this.own.delete(checked.name);
      return;
    }
    const {
      readOnly = false,
      idempotent = false,
      effects = readOnly ? 'none' : 'external',
    } = checked.annotations ?? {};
    this.own.set(checked.name, {
      item: checked,
      // Safe: the type was just checked, and the return value is checked after every call.
      handler: handler as ToolHandler,
      parallel: readOnly,
      idempotent: idempotent || readOnly,
      effects,
      // An extension's tool has no config of its own, because its extension has one.
      config: {},
      errorMessageLimit: undefined,
      isPatient: false,
      provider: { extension, ...provider },
      extension,
      number: this.nextNumber(),
    });
  }

  /** Returns the names of the tools that an extension has registered. */
  ofExtension(extension: string): string[] {
    return [...this.all()].flatMap(([name, tool]) => (tool.extension === extension ? [name] : []));
  }

  /** Returns true for the name of a tool that the agent's plan declares. */
  isDeclaredTool(name: string): boolean {
    const tool = this.get(name);
    return tool !== undefined && tool.extension === undefined;
  }

  /** Returns the resource that offers a tool: `Tool/weather`, `Extension/notes`; `undefined` for an unknown tool. */
  offererOf(name: string): string | undefined {
    const tool = this.get(name);
    if (tool === undefined) return undefined;
    // The name of a declared tool is `{resource}__{export}`.
    return tool.extension === undefined
      ? `Tool/${name.slice(0, name.lastIndexOf('__'))}`
      : `Extension/${tool.extension}`;
  }

  get(name: string): RegisteredTool | undefined {
    return this.all().get(name);
  }

  /**
   * Returns the tools that may be offered to the model now, always in the same order. The array and its items are
   * frozen.
   */
  items(): readonly ToolCatalogItem[] {
    this.listed ??= Object.freeze(Array.from(this.all().values(), ({ item }) => item));
    return this.listed;
  }

  /** Returns the names, descriptions and extensions of `items()`, frozen. */
  cards(): readonly RuntimeTool[] {
    const items = this.items();
    if (this.described?.items !== items) {
      const cards = Array.from(this.all().values(), ({ item: { name, description }, extension }) =>
        Object.freeze(defined({ name, description, extension })),
      );
      this.described = { items, cards: Object.freeze(cards) };
    }
    return this.described.cards;
  }

  private all(): ReadonlyMap<string, RegisteredTool> {
    this.merged ??= this.parts.length === 0 ? this.own : merge([this, ...this.parts].map(({ own }) => own));
    return this.merged;
  }

  private changed(): void {
    this.merged = undefined;
    this.listed = undefined;
    this.shownBy?.changed();
  }

  private isTooLarge({ name, parameters }: ToolCatalogItem, extension?: string): boolean {
    const problem = parameters && findSizeProblem(parameters, `tool "${name}"`);
    if (problem !== undefined) this.onRefused(problem, extension);
    return problem !== undefined;
  }
}

function merge(parts: readonly ReadonlyMap<string, RegisteredTool>[]): ReadonlyMap<string, RegisteredTool> {
  const all = new Map<string, RegisteredTool>();
  for (const [name, tool] of parts.flatMap((tools) => [...tools])) {
    const known = all.get(name);
    if (known === undefined || isShownInstead(tool, known)) all.set(name, tool);
  }
  return all;
}

function isShownInstead(tool: RegisteredTool, known: RegisteredTool): boolean {
  if (known.extension === undefined) return false;
  return tool.extension === undefined || tool.number >= known.number;
}

export function takenByDeclared(extension: string, name: string): GoondanError {
  return new GoondanError(
    'E_TOOL_TAKEN',
    `Extension "${extension}" cannot register "${name}": a declared tool has that name.`,
  );
}

/** Throws in the name of the extension that registers the tool. */
function checkRegistered(extension: string, item: unknown, handler: unknown): ToolCatalogItem {
  try {
    const checked = checkItem(item, 'registered');
    if (typeof handler === 'function') return checked;
    throw new GoondanError('E_TOOL_NAME', `Tool "${checked.name}" has no handler function.`);
  } catch (error) {
    throw GoondanError.is(error) ? inNameOf(extension, error) : error;
  }
}

function checkItem(item: unknown, origin: 'declared' | 'registered'): ToolCatalogItem {
  const refuse = ({ message }: Error) =>
    new GoondanError('E_TOOL_NAME', `A tool must be an object of JSON values, but ${message}.`);
  const copied = copyJsonObject(item, { freeze: true, omitUndefined: true, refuse });
  const problem = problemWithItemFields(copied, copied.name);
  if (problem !== undefined) throw problem;
  const name = checkToolName(copied.name, origin);
  if (typeof copied.description !== 'string') {
    throw new GoondanError('E_TOOL_NAME', `Tool "${name}" has no description.`);
  }
  const { parameters } = copied;
  if (
    parameters !== undefined &&
    (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
  ) {
    throw new GoondanError('E_TOOL_SCHEMA', `The parameters of tool "${name}" are not a JSON Schema object.`);
  }
  // Safe: name, description and parameters were checked above.
  return copied as unknown as ToolCatalogItem;
}
