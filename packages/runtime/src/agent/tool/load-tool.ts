/** Loads one declared tool: its module's `handlers`, one for each export. */
import { GoondanError, type ToolHandler } from '@goondan/types';
import type { DeclaredTool, ToolExport } from '../../config/declared-tool.ts';
import { loadProblem } from '../../config/load-problem.ts';
import { resolveEntry } from '../../config/resolve-entry.ts';
import { partConfig } from '../part-config.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** A tool as an agent's plan declares it. */
export interface ToolDeclaration extends Partial<DeclaredTool> {
  readonly name: string;
  readonly exports: readonly ToolExport[];
  /** Handlers given as functions, instead of a file to load them from. */
  readonly handlers?: Readonly<Record<string, ToolHandler>>;
  /** See `Asker`. Only the runtime's own tools set it. */
  readonly isPatient?: boolean;
}

export async function loadTool(declaration: ToolDeclaration, registry: ToolRegistry): Promise<void> {
  const { name, config = {}, configSchema } = declaration;
  const part = { identity: `Tool/${name}`, code: 'E_TOOL_CONFIG' } as const;
  const checked = await partConfig(part, config, {}, [configSchema]);
  const handlers = declaration.handlers ?? (await importHandlers(declaration));
  for (const each of declaration.exports) {
    const handler = Object.hasOwn(handlers, each.name) ? handlers[each.name] : undefined;
    if (typeof handler !== 'function') {
      throw new GoondanError('E_TOOL_LOAD', `Tool/${declaration.name}: handlers has no function "${each.name}".`);
    }
    registry.declare({
      item: {
        name: `${declaration.name}__${each.name}`,
        description: each.description,
        ...(each.parameters === undefined ? {} : { parameters: each.parameters }),
        annotations: { effects: each.effects ?? 'external', idempotent: each.idempotent ?? false },
      },
      handler,
      parallel: each.parallel ?? false,
      idempotent: each.idempotent ?? false,
      effects: each.effects ?? 'external',
      config: checked,
      errorMessageLimit: declaration.errorMessageLimit,
      isPatient: declaration.isPatient ?? false,
    });
  }
}

async function importHandlers({ name, root, entry }: ToolDeclaration): Promise<Record<string, ToolHandler>> {
  const file =
    root === undefined || entry === undefined ? undefined : await resolveEntry(root, entry, `Tool/${name}: entry`);
  if (file === undefined) throw new GoondanError('E_TOOL_LOAD', `Tool/${name}: there is no file "${entry ?? ''}".`);
  const module = await importFile(name, file, root ?? '');
  const handlers: unknown = typeof module === 'object' && module !== null ? Reflect.get(module, 'handlers') : undefined;
  if (typeof handlers === 'object' && handlers !== null) return handlers as Record<string, ToolHandler>;
  throw new GoondanError('E_TOOL_LOAD', `Tool/${name}: "${entry ?? ''}" exports no object named handlers.`);
}

async function importFile(name: string, file: string, root: string): Promise<unknown> {
  try {
    return await import(Bun.pathToFileURL(file).href);
  } catch (error) {
    const problem = loadProblem(error, root);
    throw new GoondanError('E_TOOL_LOAD', `Tool/${name}: the module cannot be loaded: ${problem}`, { cause: error });
  }
}
