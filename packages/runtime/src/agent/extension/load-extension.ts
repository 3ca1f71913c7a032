/**
 * Loads one extension: its resource, its module, its config, its `register`. Every error names the extension and the
 * reason.
 */
import {
  type Cleanup,
  type ExtensionModule,
  type ExtensionRegister,
  type ExtensionResource,
  GoondanError,
  type JsonObject,
} from '@goondan/types';
import type { DeclaredExtension } from '../../config/declared-extension.ts';
import { loadProblem, suggestionOf } from '../../config/load-problem.ts';
import { resolveEntry } from '../../config/resolve-entry.ts';
import { defined } from '../../json/defined.ts';
import { watchNodeCrypto } from '../draws/watch-node-crypto.ts';
import { inScope, whileLoading } from '../../trace/draw-scope.ts';
import { partConfig } from '../part-config.ts';
import { PartIdentity } from '../pipeline/part-identity.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import { collectExitListeners } from './exit-listeners.ts';
import { openExtensionApi } from './extension-api.ts';
import type { ExtensionPart } from './extension-part.ts';

/** An extension as an agent's plan declares it. */
export interface ExtensionDeclaration extends DeclaredExtension {
  /** The module itself, if it is not loaded from a file. */
  readonly module?: ExtensionModule;
}

/** Loads the extension. Its part gets everything that it registers, and its cleanup functions. */
export async function loadExtension(declaration: ExtensionDeclaration, part: ExtensionPart): Promise<void> {
  const load = () => loadChecked(declaration, part);
  // Turns may run meanwhile, so only the extension's own code may be in its scope.
  return part.scope === undefined || part.isLoadedBeside ? load() : whileLoading(part.scope, load);
}

async function loadChecked(declaration: ExtensionDeclaration, part: ExtensionPart): Promise<void> {
  // Collected from here on, because a module may add listeners when it is imported.
  const listeners = collectExitListeners();
  try {
    const own = await registerExtension(declaration, part);
    const exitListeners = listeners.collected();
    part.registered([() => runEach([...own, ...exitListeners.takeOff()])]);
  } catch (error) {
    listeners.collected().takeOff();
    throw error;
  }
}

/** Imports the module, checks the config and calls `register`. Returns the cleanup function, if there is one. */
async function registerExtension(declaration: ExtensionDeclaration, part: ExtensionPart): Promise<readonly Cleanup[]> {
  const { resource, name, scope } = part;
  const load = async () => declaration.module ?? (await importEntry(declaration.root, resource, scope !== undefined));
  const isBeside = scope !== undefined && part.isLoadedBeside;
  const module = checkModule(resource, await (isBeside ? whileLoading(scope, load) : load()));
  const { config: under = {}, configSchema } = resource.spec;
  const schemas = [configSchema, module.configSchema];
  const checked = await partConfig(`Extension/${name}`, 'E_EXT_CONFIG', under, declaration.config ?? {}, schemas);
  const config = withKeeper(checked, declaration.keeper);
  const { tier = 'agent' } = declaration;
  const opened = openExtensionApi(part, tier);
  const own = await registerOf(resource, module, declaration.root);
  const register = async (): Promise<unknown> => own(opened.api, config, new PartIdentity(part, tier));
  try {
    const returned = await (isBeside ? inScope(scope, register) : register());
    return typeof returned === 'function' ? [returned as Cleanup] : [];
  } catch (error) {
    throw initError(resource, error);
  } finally {
    opened.close();
  }
}

/** Returns the module's `register`. One that is written for an older version of the API is adapted. */
async function registerOf(
  { metadata: { name }, spec: { compat } }: ExtensionResource,
  { register }: ExtensionModule,
  root: string,
): Promise<ExtensionRegister> {
  if (compat === undefined) return register;
  const { loadCompat } = await import('./load-compat.ts');
  return (await loadCompat(name, root))(register);
}

/** Adds the place of the keeper. It is added after the check, because no bundle may set it. */
function withKeeper(config: JsonObject, keeper: DeclaredExtension['keeper']): JsonObject {
  if (keeper === undefined) return config;
  const { socket, refused } = keeper;
  return socket === undefined && refused === undefined ? config : { ...config, keeper: defined({ socket, refused }) };
}

async function importEntry(root: string, resource: ExtensionResource, isRecorded: boolean): Promise<unknown> {
  const { name } = resource.metadata;
  const { entry } = resource.spec;
  const file = await resolveEntry(root, entry, `Extension/${name}: entry`);
  if (file === undefined) {
    throw new GoondanError('E_EXT_LOAD', `Extension/${name}: there is no file "${entry}".`, {
      suggestion: 'Check spec.entry: it is relative to the folder of the bundle.',
    });
  }
  try {
    if (isRecorded) watchNodeCrypto(await Bun.file(file).text());
    return await import(Bun.pathToFileURL(file).href);
  } catch (error) {
    const problem = loadProblem(error, root);
    throw new GoondanError('E_EXT_LOAD', `Extension/${name}: "${entry}" cannot be loaded: ${problem}`, {
      ...suggestionOf(error),
      cause: error,
    });
  }
}

function checkModule(resource: ExtensionResource, module: unknown): ExtensionModule {
  const register: unknown = typeof module === 'object' && module !== null ? Reflect.get(module, 'register') : undefined;
  if (typeof register === 'function') return module as ExtensionModule;
  throw new GoondanError(
    'E_EXT_LOAD',
    `Extension/${resource.metadata.name}: "${resource.spec.entry}" exports no function named register.`,
    { suggestion: 'Write `export function register(api, config) { … }`.' },
  );
}

/** Runs every cleanup, even if an earlier one failed. */
async function runEach(cleanups: readonly Cleanup[]): Promise<void> {
  const errors: unknown[] = [];
  for (const cleanup of cleanups) {
    try {
      await cleanup();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => toTurnError(error).message).join('; '));
}

const aboutExtensions: ReadonlySet<string> = new Set(['E_EXT_COMPAT', 'E_EXT_CONFIG', 'E_EXT_INIT', 'E_EXT_LOAD']);

/** Returns an error about the extension unchanged; any other error becomes `E_EXT_INIT`. */
function initError(resource: ExtensionResource, error: unknown): GoondanError {
  if (isAboutExtension(error)) return error;
  const { message, code } = toTurnError(error);
  const { name } = resource.metadata;
  const reason = code === undefined ? message : `${message} (${code})`;
  return new GoondanError('E_EXT_INIT', `Extension/${name} ("${resource.spec.entry}"): register failed: ${reason}`, {
    ...suggestionOf(error),
    cause: error,
  });
}

function isAboutExtension(thrown: unknown): thrown is GoondanError {
  try {
    return GoondanError.is(thrown) && aboutExtensions.has(thrown.code);
  } catch {
    // A thrown object may itself throw when its fields are read.
    return false;
  }
}
