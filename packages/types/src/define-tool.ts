/** Defines tools in code, with their parameters next to the function that receives them. */
import type { JsonObject, JsonSchema, JsonValue } from './json.ts';
import type { ToolContext } from './tool.ts';

/** Marks a value that {@link defineTool} returned. Another copy of this package recognises the mark, too. */
const mark: unique symbol = Symbol.for('goondan.tool');

/**
 * A schema of zod, ArkType, Valibot or another library, as [Standard Schema](https://standardschema.dev) describes it.
 * This type declares only the parts that a tool needs: the JSON Schema for the model, and the check of the arguments.
 */
export interface StandardParameters<Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** For the type checker only; not used at run time. */
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined;
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-07' }) => Record<string, unknown> };
    /** Checks the arguments. When absent, only the JSON Schema checks the arguments. */
    readonly validate?: (value: unknown) => CheckedArguments<Input> | Promise<CheckedArguments<Input>>;
  };
}

interface CheckedArguments<Input> {
  readonly value?: Input;
  /** The problems that were found; absent when the arguments are valid. */
  readonly issues?:
    | readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[]
    | undefined;
}

/** One tool: its description for the model, and the function that runs it. */
export interface ToolDefinition<Input extends object = JsonObject> {
  /** The part after `__` in the tool's name; the name of the module's export when absent. */
  readonly name?: string;
  readonly description: string;
  /** A Standard Schema that provides a JSON Schema, or a plain JSON Schema. The tool takes no arguments when absent. */
  readonly parameters?: StandardParameters<Input> | JsonSchema;
  /** If true, the tool may run at the same time as other calls of the step; `false` when absent. */
  readonly parallel?: boolean;
  /** If true, the tool may run again when a crash left its outcome unknown; `false` when absent. */
  readonly idempotent?: boolean;
  /** How far the tool's effects reach; `external` when absent. */
  readonly effects?: 'none' | 'local' | 'external';
  /**
   * Runs the tool, as a `ToolHandler` does. `input` is the value that the schema returns, with its defaults and
   * transformations.
   */
  run(ctx: ToolContext, input: Input): JsonValue | void | Promise<JsonValue | void>;
}

/** A tool that a module exports, for a `Tool` resource that has no `exports` field. */
export interface DefinedTool<Input extends object = JsonObject> extends ToolDefinition<Input> {
  readonly [mark]: true;
}

/**
 * Describes a tool in code. Export it from the module that a `Tool` resource names, and leave `exports` of that resource
 * out: the model sees the export `roll` of `Tool/dice` as `dice__roll`.
 *
 * **When it is checked** — when an agent with the tool starts. `gdn validate` runs no code and says "schema in code".
 * **Rules** — the type of `input` follows from a Standard Schema. For a plain JSON Schema it is a `JsonObject`, or the type
 * that you name: `defineTool<{ sides: number }>({ … })`.
 * **Errors** — at the start of the agent: `E_TOOL_SCHEMA`, `E_TOOL_NAME`, `E_TOOL_LOAD`.
 *
 * @example
 * export const roll = defineTool({
 *   description: 'Rolls a die.',
 *   parameters: z.object({ sides: z.int().min(2) }),
 *   run: (_ctx, { sides }) => 1 + Math.floor(Math.random() * sides),
 * });
 */
export function defineTool<Input extends object = JsonObject>(tool: ToolDefinition<Input>): DefinedTool<Input> {
  return Object.freeze({ ...tool, [mark]: true as const });
}

/**
 * Tells whether {@link defineTool} returned this value. The fields of the value are not checked, because a module may
 * be plain JavaScript.
 */
export function isDefinedTool(value: unknown): value is DefinedTool<object> {
  try {
    return typeof value === 'object' && value !== null && Reflect.get(value, mark) === true;
  } catch {
    // The value is another export of the module, such as a proxy that throws for unknown names.
    return false;
  }
}
