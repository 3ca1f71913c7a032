/**
 * Checks whether a call can run: the tool must be offered, and the arguments must match its schema. Throws an error
 * that the model can read.
 */
import { GoondanError, type JsonObject, type JsonValue, type ToolCatalogItem } from '@goondan/types';
import { copyJsonObject, isPlainObject } from '../../json/copy-json.ts';
import { compileSchema } from '../../json/json-schema.ts';
import type { RunningToolCall } from './running-tool-call.ts';
import type { RegisteredTool, ToolRegistry } from '../tool/tool-registry.ts';

/**
 * Finds the tool and checks the final arguments. The returned `input` is a copy for the handler. `finish`: the tool that
 * ends the turn, if its answer must fit a schema.
 */
export async function checkToolCall(tools: ToolRegistry, call: RunningToolCall, finish?: RegisteredTool) {
  const tool = findTool(tools, call, finish);
  return { tool, input: await checkArguments(tool, call.finalArguments()) };
}

function findTool(
  tools: ToolRegistry,
  { toolName, step, callers }: RunningToolCall,
  finish: RegisteredTool | undefined,
): RegisteredTool {
  // Only the model gives the answer of a turn. A model with a schema mode may call the tool, too, if it has seen an
  // earlier call in the conversation.
  const isFinishable = finish !== undefined && callers.length === 0;
  if (isFinishable && toolName === finish.item.name) return finish;
  const tool = tools.get(toolName);
  if (tool !== undefined && (step === undefined || step.catalog.has(toolName))) return tool;
  const names = namesToChoose(tools, step?.catalog.items ?? tools.items());
  const choices = [...names, ...(isFinishable ? [finish.item.name] : [])].join(', ') || 'none';
  if (tool === undefined) {
    throw new GoondanError('E_TOOL_UNKNOWN', `There is no tool "${toolName}". Offered: ${choices}.`);
  }
  throw new GoondanError('E_TOOL_NOT_OFFERED', `Tool "${toolName}" is not offered in this step. Offered: ${choices}.`);
}

/** Returns the tool names to list in the error, without items that a layer added to the catalog without a handler. */
function namesToChoose(tools: ToolRegistry, items: readonly ToolCatalogItem[]): string[] {
  return items.map(({ name }) => name).filter((name) => tools.get(name) !== undefined);
}

/** Checks arguments, and returns a copy for the handler. */
export async function checkArguments(tool: RegisteredTool, args: JsonValue): Promise<JsonObject> {
  const { name, parameters } = tool.item;
  if (!isPlainObject(args)) {
    throw new GoondanError(
      'E_TOOL_ARGUMENTS',
      `The arguments of "${name}" must be an object, not ${JSON.stringify(args)}.`,
    );
  }
  const input = copyArguments(name, args);
  const problems = parameters === undefined ? [] : (await compileSchema(parameters, `tool "${name}"`))(input);
  if (problems.length > 0) {
    const said = problems.map(({ message }) => message).join('; ');
    throw new GoondanError('E_TOOL_ARGUMENTS', `The arguments of "${name}" do not fit: ${said}.`);
  }
  return input;
}

/** Copies the arguments for the handler, because layers may have put values into them that are not JSON. */
export function copyArguments(name: string, args: Record<string, unknown>): JsonObject {
  const refuse = ({ message }: Error) =>
    new GoondanError('E_TOOL_ARGUMENTS', `The arguments of "${name}" are not JSON: ${message}.`);
  return copyJsonObject(args, { omitUndefined: true, refuse });
}
