/**
 * Loads one declared tool: the `handlers` of its module, one for each export, or the tools that the module exports.
 */
import { type DefinedTool, GoondanError, type ToolHandler } from '@goondan/types';
import type { DeclaredTool, ToolExport } from '../../config/declared-tool.ts';
import { loadProblem, suggestionOf } from '../../config/load-problem.ts';
import { resolveEntry } from '../../config/resolve-entry.ts';
import { partConfig } from '../part-config.ts';
import { isToolInCode, type OfferedTool, readDefinedTools } from './read-defined-tools.ts';
import type { SdkTool } from './sdk-tool.ts';
import { codeOf } from './tool-fingerprint.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** A tool as an agent's plan declares it. */
export interface ToolDeclaration extends Partial<DeclaredTool> {
  readonly name: string;
  readonly exports: readonly ToolExport[];
  /**
   * The handlers, if they are not loaded from a file: functions, or tools of `defineTool` or the AI SDK if `exports` is
   * empty.
   */
  readonly handlers?: Readonly<Record<string, ToolHandler | DefinedTool<object> | SdkTool>>;
  /** A function that runs instead of every handler. A replay sets it, so that no tool reaches the outside. */
  readonly instead?: ToolHandler;
  /** See `Asker.isPatient`. Only the runtime's own tools set it. */
  readonly isPatient?: boolean;
}

export async function loadTool(declaration: ToolDeclaration, registry: ToolRegistry): Promise<void> {
  const { name, config = {}, configSchema } = declaration;
  const checked = await partConfig(`Tool/${name}`, 'E_TOOL_CONFIG', config, {}, [configSchema]);
  for (const { handler, ...each } of await offeredTools(declaration)) {
    registry.declare({
      item: {
        name: `${name}__${each.name}`,
        description: each.description,
        ...(each.parameters === undefined ? {} : { parameters: each.parameters }),
        annotations: { effects: each.effects ?? 'external', idempotent: each.idempotent ?? false },
      },
      handler: declaration.instead ?? handler,
      parallel: each.parallel ?? false,
      idempotent: each.idempotent ?? false,
      effects: each.effects ?? 'external',
      config: checked,
      errorMessageLimit: declaration.errorMessageLimit,
      isPatient: declaration.isPatient ?? false,
      provider: { tool: name, ...codeOf(declaration), config: checked },
    });
  }
}

async function offeredTools(declaration: ToolDeclaration): Promise<readonly OfferedTool[]> {
  const { name, exports, handlers, instead } = declaration;
  if (exports.length === 0) return readDefinedTools(declaration, handlers ?? (await importModule(declaration)));
  if (instead !== undefined) return exports.map((each) => ({ ...each, handler: instead }));
  const found = handlers ?? (await importHandlers(declaration));
  return exports.map((each) => {
    const handler = Object.hasOwn(found, each.name) ? found[each.name] : undefined;
    if (typeof handler === 'function') return { ...each, handler };
    throw new GoondanError('E_TOOL_LOAD', `Tool/${name}: handlers has no function "${each.name}".`);
  });
}

async function importHandlers(declaration: ToolDeclaration): Promise<Record<string, ToolHandler>> {
  const { name, entry = '' } = declaration;
  const module = await importModule(declaration);
  const handlers: unknown = Reflect.get(module, 'handlers');
  if (typeof handlers === 'object' && handlers !== null) return handlers as Record<string, ToolHandler>;
  const message = `Tool/${name}: "${entry}" exports no object named handlers.`;
  if (!Object.values(module).some(isToolInCode)) throw new GoondanError('E_TOOL_LOAD', message);
  const suggestion = 'The module exports tools, not handlers: leave `exports` out of the Tool resource.';
  throw new GoondanError('E_TOOL_LOAD', message, { suggestion });
}

async function importModule({ name, root, entry }: ToolDeclaration): Promise<object> {
  const file =
    root === undefined || entry === undefined ? undefined : await resolveEntry(root, entry, `Tool/${name}: entry`);
  if (file === undefined) throw new GoondanError('E_TOOL_LOAD', `Tool/${name}: there is no file "${entry ?? ''}".`);
  try {
    // Safe: a module is an object.
    return (await import(Bun.pathToFileURL(file).href)) as object;
  } catch (error) {
    const problem = loadProblem(error, root ?? '');
    const about = { ...suggestionOf(error), cause: error };
    throw new GoondanError('E_TOOL_LOAD', `Tool/${name}: the module cannot be loaded: ${problem}`, about);
  }
}
