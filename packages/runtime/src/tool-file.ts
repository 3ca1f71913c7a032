/** Makes the Tool resource of a module, for the resources of `defineSwarm`. */
import { basename, dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DefinedTool, GoondanError } from '@goondan/types';
import type { SdkTool } from './agent/tool/sdk-tool.ts';
import type { ResourceDefinition } from './define-swarm.ts';

/** The tools that a module exports, or `Module` itself if it is a tool; `never` when there is none. */
type ToolsOf<Module> = Module extends DefinedTool<object> | SdkTool
  ? Module
  : Extract<Module[keyof Module], DefinedTool<object> | SdkTool>;

type FileOf<Module> = [ToolsOf<Module>] extends [never]
  ? 'a module that exports a tool of defineTool or the AI SDK'
  : string;

/**
 * Makes the `Tool` resource of a module whose tools are made with `defineTool` or the AI SDK. The resource has the name of the file,
 * or, for an `index` file, the name of its folder. Agents refer to it as `Tool/name`. `Module` is the type of the
 * module, so the compiler checks that the module exists and exports a tool. The module is not imported: a plan is data,
 * and tools run in another process.
 *
 * **Errors** — `E_BUNDLE_INVALID` when the arguments do not name a local file.
 *
 * @example
 * import type * as dice from './tools/dice.ts';
 * const resources = [toolFile<typeof dice>(import.meta.url, './tools/dice.ts'), model, agent, swarm];
 */
export function toolFile<Module extends object>(
  base: string | URL,
  file: FileOf<Module>,
): Extract<ResourceDefinition, { readonly kind: 'Tool' }> {
  const url = urlOf(file, base);
  const path = fileURLToPath(url);
  const stem = basename(path, extname(path));
  const name = stem === 'index' ? basename(dirname(path)) : stem;
  return { kind: 'Tool', metadata: { name }, spec: { entry: url.href } };
}

function urlOf(file: unknown, base: unknown): URL {
  if (typeof file === 'string' && URL.canParse(file, String(base))) {
    const url = new URL(file, String(base));
    if (url.protocol === 'file:' && url.host === '') return url;
  }
  const message = `toolFile needs the URL of a module and the path of a file, and got ${String(base)} and ${String(file)}.`;
  const suggestion = "Write `toolFile(import.meta.url, './tools/dice.ts')`.";
  throw new GoondanError('E_BUNDLE_INVALID', message, { suggestion });
}
