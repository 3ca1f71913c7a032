/** The tools of an agent: those its plan declares and those its extensions register. */
import { GoondanError, type JsonObject, type ToolCatalogItem, type ToolHandler } from '@goondan/types';
import { copyJsonObject, NotJson } from '../../json/copy-json.ts';
import { findSizeProblem } from '../../json/json-schema.ts';
import { checkToolName } from '../../config/tool-name.ts';

/** A tool with everything the runtime knows about it; the catalog shows only `item`. */
export interface RegisteredTool {
  readonly item: ToolCatalogItem;
  readonly handler: ToolHandler;
  /** True when it may run at the same time as other calls of its step. */
  readonly parallel: boolean;
  /** True when it may run again after a crash left its outcome unknown. */
  readonly idempotent: boolean;
  readonly effects: 'none' | 'local' | 'external';
  /** The `ctx.config` of its handler. */
  readonly config: JsonObject;
  readonly errorMessageLimit: number | undefined;
  /** For its requests to other agents: see `Asker`. */
  readonly isPatient: boolean;
  /** The extension that registered it; undefined for a declared tool. */
  readonly extension: string | undefined;
}

export class ToolRegistry {
  private readonly tools = new Map<string, RegisteredTool>();
  private listed: readonly ToolCatalogItem[] | undefined;

  /** `onRefused` is called for a tool whose schema is too large. Such a tool is not offered; the others are. */
  constructor(private readonly onRefused: (problem: GoondanError, extension?: string) => void = () => undefined) {}

  declare(tool: Omit<RegisteredTool, 'extension'>): void {
    const item = checkItem(tool.item);
    if (this.isTooLarge(item)) return;
    if (this.tools.has(item.name)) {
      throw new GoondanError('E_TOOL_TAKEN', `Two declared tools are called "${item.name}".`);
    }
    this.tools.set(item.name, { ...tool, item, extension: undefined });
    this.listed = undefined;
  }

  /** Registers a tool of an extension. A name registered again replaces the tool and keeps its place in the catalog. */
  register(extension: string, item: unknown, handler: unknown): void {
    const checked = checkItem(item);
    if (typeof handler !== 'function') {
      throw new GoondanError(
        'E_TOOL_NAME',
        `Extension "${extension}": tool "${checked.name}" has no handler function.`,
      );
    }
    const known = this.tools.get(checked.name);
    if (known !== undefined && known.extension === undefined) {
      throw new GoondanError(
        'E_TOOL_TAKEN',
        `Extension "${extension}" cannot register "${checked.name}": a declared tool has that name.`,
      );
    }
    this.listed = undefined;
    if (this.isTooLarge(checked, extension)) {
      this.tools.delete(checked.name);
      return;
    }
    const {
      readOnly = false,
      idempotent = false,
      effects = readOnly ? 'none' : 'external',
    } = checked.annotations ?? {};
    this.tools.set(checked.name, {
      item: checked,
      // The type was just checked; the return value is checked after every call.
      handler: handler as ToolHandler,
      parallel: readOnly,
      idempotent: idempotent || readOnly,
      effects,
      // An extension's tool has no config of its own: its extension has one.
      config: {},
      errorMessageLimit: undefined,
      isPatient: false,
      extension,
    });
  }

  /** Names of the tools that an extension has registered. */
  ofExtension(extension: string): string[] {
    return [...this.tools].flatMap(([name, tool]) => (tool.extension === extension ? [name] : []));
  }

  get(name: string): RegisteredTool | undefined {
    return this.tools.get(name);
  }

  /** Tools that the model may be offered now, always in the same order. The array and its items are frozen. */
  items(): readonly ToolCatalogItem[] {
    this.listed ??= Object.freeze(Array.from(this.tools.values(), ({ item }) => item));
    return this.listed;
  }

  private isTooLarge({ name, parameters }: ToolCatalogItem, extension?: string): boolean {
    const problem = parameters && findSizeProblem(parameters, `tool "${name}"`);
    if (problem !== undefined) this.onRefused(problem, extension);
    return problem !== undefined;
  }
}

function checkItem(item: unknown): ToolCatalogItem {
  let copied;
  try {
    copied = copyJsonObject(item, { freeze: true, omitUndefined: true });
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new GoondanError('E_TOOL_NAME', `A tool must be an object of JSON values, but ${error.message}.`);
  }
  const name = checkToolName(copied.name);
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
  // Name, description and parameters were checked above.
  return copied as unknown as ToolCatalogItem;
}
