/**
 * Makes a plan for `startSwarm` from resources that are written in TypeScript. The resources and the checks are those
 * of a bundle.
 */
import { existsSync, realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoondanError, type JsonObject } from '@goondan/types';
import { API_VERSION } from './config/api-version.ts';
import type { ResourceKind, ResourceOf } from './config/bundle/kinds/resource-schemas.ts';
import type { SourceDocument } from './config/bundle/place.ts';
import { resolveSwarm } from './config/bundle/resolve/resolve-swarm.ts';
import type { Environment } from './config/variable-name.ts';
import type { SwarmPlan } from './config/swarm-plan.ts';
import { copyJsonObject, isPlainObject, NotJson } from './json/copy-json.ts';
import { defined } from './json/defined.ts';
import { realFolder } from './real-folder.ts';

/** A resource as in a `goondan.yaml`; `apiVersion` is optional. */
export type ResourceDefinition = {
  [Kind in ResourceKind]: Omit<ResourceOf<Kind>, 'apiVersion'> & { apiVersion?: typeof API_VERSION };
}[ResourceKind];

export interface SwarmDefinition {
  /** The folder that contains all files of entries and prompts; usually `import.meta.dirname`. */
  readonly folder: string;
  readonly resources: readonly ResourceDefinition[];
  /** The name of the swarm. Optional when `resources` has only one swarm, or a swarm called `default`. */
  readonly swarm?: string;
  /** The environment for `valueFrom: { env }`; `process.env` when absent. */
  readonly environment?: Environment;
  /** The working folder of tools, for agents that do not name one; `folder` when absent. */
  readonly workdir?: string;
}

/** A plan for `startSwarm`. */
export interface DefinedSwarm extends SwarmPlan {
  readonly bundleFolder: string;
  readonly workspace?: string;
}

/**
 * Checks the resources and makes a plan from them.
 *
 * **Rules** — the checks are those of a bundle; modules are parsed, not imported. Resources in code have no lines: the
 * "line" of a problem is the position of its resource in the list, from 1.
 * **Errors** — `E_BUNDLE_INVALID`, with all problems at once; those of `resolveSwarm`.
 *
 * @example
 * const swarm = await startSwarm(await defineSwarm({ folder: import.meta.dirname, resources: [model, agent, swarm] }));
 */
export async function defineSwarm({
  folder,
  resources,
  environment = process.env,
  ...options
}: SwarmDefinition): Promise<DefinedSwarm> {
  if (typeof folder !== 'string' || !Array.isArray(resources)) {
    const suggestion = 'Pass `{ folder, resources }`; in a module, the folder is `import.meta.dirname`.';
    throw new GoondanError('E_BUNDLE_INVALID', 'defineSwarm needs a folder and a list of resources.', { suggestion });
  }
  const { readBundle } = await import('./config/bundle/read-bundle.ts');
  const root = realFolder(folder);
  const documents = resources.map((resource, index) => toDocument(resource, index, root));
  const bundle = await readBundle({ folder: root, documents, findings: [] }, environment);
  const { plan, workspace } = resolveSwarm(bundle, { environment, ...options });
  return defined({ ...plan, bundleFolder: root, workspace });
}

const FILE = 'defineSwarm';

function toDocument(resource: ResourceDefinition, index: number, root: string): SourceDocument {
  const place = { file: FILE, line: index + 1, column: 1 };
  const value = withLocalEntry({ apiVersion: API_VERSION, ...toJson(resource, place.line) }, place.line, root);
  return { value, isBroken: false, isUnreadable: false, file: FILE, hasOnePlace: true, placeOf: () => place };
}

function toJson(resource: ResourceDefinition, number: number): JsonObject {
  try {
    return copyJsonObject(resource, { omitUndefined: true });
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const why = 'A plan is data: code of tools and extensions runs in other processes';
    throw new GoondanError('E_BUNDLE_INVALID', `Resource ${number} is not JSON: ${error.message}. ${why}.`, {
      suggestion:
        'Write the code into a module and name its file, a tool of `defineTool` with ' +
        "`toolFile<typeof dice>(import.meta.url, './tools/dice.ts')`.",
    });
  }
}

/** Converts an entry that is a `file:` URL, as `toolFile` returns it, to a path relative to the folder. */
function withLocalEntry(resource: JsonObject, number: number, root: string): JsonObject {
  const { spec } = resource;
  if (!isPlainObject(spec) || typeof spec.entry !== 'string' || !spec.entry.startsWith('file:')) return resource;
  const file = toPath(spec.entry, number);
  const path = relative(root, existsSync(file) ? realpathSync(file) : file);
  return { ...resource, spec: { ...spec, entry: `./${path.split(sep).join('/')}` } };
}

function toPath(entry: string, number: number): string {
  try {
    return fileURLToPath(entry);
  } catch (error) {
    const message = `Resource ${number} has the entry "${entry}", which is not the URL of a local file.`;
    throw new GoondanError('E_BUNDLE_INVALID', message, {
      suggestion: 'Name the file from the folder (`./tools/dice.ts`), or use `toolFile(import.meta.url, …)`.',
      cause: error,
    });
  }
}
