/**
 * Reads the tools that a module exports, made with `defineTool` or with `tool` of the AI SDK. Checks their fields, and
 * converts them to the form of declared tools.
 */
import { type DefinedTool, GoondanError, isDefinedTool, type JsonSchema } from '@goondan/types';
import type { ToolExport } from '../../config/declared-tool.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import { isExportName } from '../../config/tool-name.ts';
import { copyJsonObject } from '../../json/copy-json.ts';
import { findSchemaProblem } from '../../json/find-schema-problem.ts';
import { describeSchema, ownCheckOf } from '../../json/standard-schema.ts';
import { isSdkTool, readSdkTool, type ReadTool, type SdkTool } from './sdk-tool.ts';
import type { RegisteredTool } from './tool-registry.ts';

/** A tool's export, with the function that runs it. */
export interface OfferedTool extends ToolExport {
  readonly handler: RegisteredTool['handler'];
}

/** Returns true for a value that is a tool by itself, and not only the handler of one. */
export function isToolInCode(value: unknown): value is DefinedTool<object> | SdkTool {
  return isDefinedTool(value) || isSdkTool(value);
}

/**
 * Reads all tools of a module. `name` and `entry` are fields of the Tool resource that refers to the module.
 *
 * **Errors** — `E_TOOL_LOAD`, `E_TOOL_NAME`, `E_TOOL_SCHEMA`; each names the resource, the file and the tool.
 */
export async function readDefinedTools(
  { name, entry }: { readonly name: string; readonly entry?: string },
  exported: object,
): Promise<OfferedTool[]> {
  const file = entry === undefined ? 'handlers' : `"${entry}"`;
  const describe = (tool: unknown) => `Tool/${name}: "${String(tool)}" in ${file}`;
  const keys = new Map<DefinedTool<object> | SdkTool, string>();
  for (const [key, value] of Object.entries(exported)) {
    // A module may export the same tool twice, by its name and as default. Then the name is used.
    if (isToolInCode(value) && (keys.get(value) ?? 'default') === 'default') keys.set(value, key);
  }
  const read = async (tool: DefinedTool<object> | SdkTool, key: string) => {
    try {
      return readTool(name, describe, key, isSdkTool(tool) ? await readSdkTool(tool, key, describe(key)) : tool);
    } catch (error) {
      if (GoondanError.is(error)) throw error;
      // A getter of the tool threw.
      throw new GoondanError('E_TOOL_LOAD', `${describe(key)} cannot be read: ${messageOf(error)}.`, { cause: error });
    }
  };
  if (keys.size > 0) return Promise.all([...keys].map(([tool, key]) => read(tool, key)));
  throw new GoondanError('E_TOOL_LOAD', `Tool/${name}: ${file} exports no tool.`, {
    suggestion:
      'Export a tool: `export const roll = defineTool({ … })`, or one of the AI SDK. Or name the exported functions in `exports` of the Tool resource.',
  });
}

function readTool(resource: string, describe: (tool: unknown) => string, key: string, tool: ReadTool): OfferedTool {
  const { name = key, description, parameters, parallel, idempotent, effects } = tool;
  if (!isExportName(name) || name === 'default') throw wrongName(describe(name));
  const what = describe(name);
  if (typeof description !== 'string' || description === '') throw wrongTool(`${what} has no description.`);
  if (typeof tool.run !== 'function') throw wrongTool(`${what} has no function run.`);
  if (effects !== undefined && !EFFECTS.includes(effects)) {
    throw wrongTool(`${what} has unknown effects; they are ${EFFECTS.join(', ')}.`);
  }
  return {
    name,
    description,
    ...(parameters !== undefined && { parameters: readSchema(parameters, what) }),
    parallel: parallel === true,
    idempotent: idempotent === true,
    ...(effects !== undefined && { effects }),
    handler: handlerOf(tool, `${resource}__${name}`),
  };
}

const EFFECTS: readonly unknown[] = ['none', 'local', 'external'];

/** Returns the JSON Schema for the model. */
function readSchema(parameters: object, what: string): JsonSchema {
  try {
    const { $schema: _draft, ...schema } = copyJsonObject(describeSchema(parameters), { omitUndefined: true });
    const problem = findSchemaProblem(schema);
    if (problem !== undefined) throw new Error(problem.message);
    if (schema.type === undefined || schema.type === 'object') return schema;
    throw new Error(`the value is of type ${JSON.stringify(schema.type)}, but the arguments of a tool are an object`);
  } catch (error) {
    // A schema library throws if a type, such as a date, has no form in JSON.
    const problem = messageOf(error);
    throw new GoondanError('E_TOOL_SCHEMA', `${what} has parameters that are not a JSON Schema: ${problem}.`, {
      suggestion:
        'Give `parameters` (`inputSchema` in the AI SDK) a Standard Schema of an object with a JSON Schema (zod 4.2 or ' +
        'later), or a JSON Schema.',
      cause: error,
    });
  }
}

/**
 * Returns a handler that runs the schema's own check before the tool. The arguments already match the JSON Schema, but
 * only the schema itself has refinements, defaults and transformations.
 */
function handlerOf(tool: ReadTool, fullName: string): RegisteredTool['handler'] {
  const check = ownCheckOf(tool.parameters ?? {});
  if (check === undefined) return (ctx, input, messages) => tool.run(ctx, input, messages);
  return async (ctx, input, messages) => {
    const checked = await check(input);
    if ('value' in checked) return tool.run(ctx, checked.value ?? {}, messages);
    const said = checked.problems.join('; ');
    throw new GoondanError('E_TOOL_ARGUMENTS', `The arguments of "${fullName}" do not fit: ${said}.`);
  };
}

function wrongTool(message: string): GoondanError {
  return new GoondanError('E_TOOL_LOAD', message, {
    suggestion: 'Correct the argument of `defineTool`, or of `tool` of the AI SDK.',
  });
}

function wrongName(what: string): GoondanError {
  const suggestion = "Use lower-case letters, digits, - and single _, or add a field: `name: 'roll'`.";
  return new GoondanError('E_TOOL_NAME', `${what} is not a name for a tool.`, { suggestion });
}
