/** Loads one extension: its resource, its module, its config, its `register`. Every failure says which one and why. */
import { pathToFileURL } from 'node:url';
import {
  type Cleanup,
  type ExtensionModule,
  type ExtensionResource,
  GoondanError,
  type JsonObject,
  type JsonSchema,
} from '@goondan/types';
import { checkExtensionResource } from '../../config/check-extension-resource.ts';
import { mergeConfig } from '../../config/merge-config.ts';
import { resolveEntry } from '../../config/resolve-entry.ts';
import type { Tier } from '../pipeline/layer.ts';
import { toTurnError } from '../pipeline/turn-error.ts';
import { compileSchema } from '../tool/json-schema.ts';
import { collectExitListeners } from './exit-listeners.ts';
import { type ExtensionParts, openExtensionApi } from './extension-api.ts';

/** An extension as an agent's plan names it. */
export interface ExtensionDeclaration {
  readonly resource: ExtensionResource;
  /** The bundle's folder: `spec.entry` is relative to it. */
  readonly root: string;
  /** Merged over the resource's own config. */
  readonly config?: JsonObject;
  readonly tier?: Tier;
  /** The module itself, when it need not be loaded from a file. */
  readonly module?: ExtensionModule;
}

export interface LoadedExtension {
  readonly name: string;
  readonly cleanup: Cleanup;
}

export async function loadExtension(
  declaration: ExtensionDeclaration,
  parts: ExtensionParts,
): Promise<LoadedExtension> {
  const resource = checkExtensionResource(declaration.resource);
  const { name } = resource.metadata;
  const module = checkModule(resource, declaration.module ?? (await importEntry(declaration.root, resource)));
  const config = mergeConfig(resource.spec.config ?? {}, declaration.config ?? {});
  await checkConfig(name, config, resource.spec.configSchema);
  await checkConfig(name, config, module.configSchema);
  const opened = openExtensionApi(parts, name, declaration.tier ?? 'agent');
  const listeners = collectExitListeners();
  try {
    const returned: unknown = await module.register(opened.api, config);
    const cleanup = typeof returned === 'function' ? (returned as Cleanup) : () => undefined;
    const exitListeners = listeners.collected();
    return {
      name,
      cleanup: async () => {
        await cleanup();
        await exitListeners.run();
      },
    };
  } catch (error) {
    listeners.collected().remove();
    throw initError(resource, error);
  } finally {
    opened.close();
  }
}

async function importEntry(root: string, resource: ExtensionResource): Promise<unknown> {
  const { name } = resource.metadata;
  const { entry } = resource.spec;
  const file = await resolveEntry(root, entry, `Extension/${name}`);
  if (file === undefined) {
    throw new GoondanError('E_EXT_LOAD', `Extension/${name}: there is no file "${entry}".`, {
      suggestion: 'Check spec.entry: it is relative to the folder of the bundle.',
    });
  }
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    const { message } = toTurnError(error);
    throw new GoondanError('E_EXT_LOAD', `Extension/${name}: "${entry}" cannot be loaded: ${message}`, {
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

async function checkConfig(name: string, config: JsonObject, schema: JsonSchema | undefined): Promise<void> {
  if (schema === undefined) return;
  const problems = await compileSchema(schema, `the config of Extension/${name}`).then((check) => check(config));
  if (problems.length === 0) return;
  throw new GoondanError('E_EXT_CONFIG', `The config of Extension/${name} does not fit: ${problems.join('; ')}.`);
}

/** Errors that are already about the extension keep their code; any other becomes `E_EXT_INIT`. */
function initError(resource: ExtensionResource, error: unknown): GoondanError {
  if (error instanceof GoondanError && error.code.startsWith('E_EXT_')) return error;
  const { message, code } = toTurnError(error);
  const { name } = resource.metadata;
  const reason = code === undefined ? message : `${message} (${code})`;
  return new GoondanError('E_EXT_INIT', `Extension/${name} ("${resource.spec.entry}"): register failed: ${reason}`, {
    cause: error,
  });
}
