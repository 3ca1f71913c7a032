/** A bundle written in TypeScript: the same resources with types, the same checks, and a plan for `startSwarm`. */
import { realpathSync } from 'node:fs';
import { GoondanError, type JsonValue } from '@goondan/types';
import { API_VERSION } from './config/api-version.ts';
import type { ResourceKind, ResourceOf } from './config/bundle/kinds/resource-schemas.ts';
import type { SourceDocument } from './config/bundle/place.ts';
import { resolveSwarm } from './config/bundle/resolve/resolve-swarm.ts';
import type { Environment } from './config/bundle/values.ts';
import type { SwarmPlan } from './config/swarm-plan.ts';
import { copyJson, NotJson } from './json/copy-json.ts';
import { defined } from './json/defined.ts';

/** A resource as in a `goondan.yaml`; `apiVersion` is optional. */
export type ResourceDefinition = {
  [Kind in ResourceKind]: Omit<ResourceOf<Kind>, 'apiVersion'> & { apiVersion?: typeof API_VERSION };
}[ResourceKind];

export interface SwarmDefinition {
  /** The folder of entries and prompts, which must be inside it: `import.meta.dir`. */
  readonly folder: string;
  readonly resources: readonly ResourceDefinition[];
  /** The name of the swarm; optional when there is only one. */
  readonly swarm?: string;
  /** The source of `valueFrom: { env }`; `process.env` when absent. */
  readonly environment?: Environment;
  /** The working folder of tools for agents that name none; `folder` when absent. */
  readonly workdir?: string;
}

/** A plan for `startSwarm`. */
export interface DefinedSwarm extends SwarmPlan {
  readonly bundleFolder: string;
  readonly workspace?: string;
}

/**
 * Checks the resources and makes a plan of them.
 *
 * **Rules** — the checks are those of a bundle; modules are read and not imported. The "line" of a problem is the number
 * of the resource.
 * **Errors** — `E_BUNDLE_INVALID`, with all problems at once; those of `resolveSwarm`.
 *
 * @example
 * const swarm = await startSwarm(await defineSwarm({ folder: import.meta.dir, resources: [model, agent, swarm] }));
 */
export async function defineSwarm({
  folder,
  resources,
  environment = process.env,
  ...options
}: SwarmDefinition): Promise<DefinedSwarm> {
  const { readBundle } = await import('./config/bundle/read-bundle.ts');
  const root = realpathSync(folder);
  const documents = resources.map(toDocument);
  const bundle = await readBundle({ folder: root, documents, findings: [] }, environment);
  const { plan, workspace } = resolveSwarm(bundle, { environment, ...options });
  return defined({ ...plan, bundleFolder: root, workspace });
}

const FILE = 'defineSwarm';

function toDocument(resource: ResourceDefinition, index: number): SourceDocument {
  const place = { file: FILE, line: index + 1, column: 1 };
  return { value: toJson(resource, place.line), isBroken: false, file: FILE, placeOf: () => place };
}

function toJson(resource: ResourceDefinition, number: number): JsonValue {
  try {
    return copyJson({ apiVersion: API_VERSION, ...resource }, { omitUndefined: true });
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new GoondanError('E_BUNDLE_INVALID', `Resource ${number} is not JSON: ${error.message}.`);
  }
}
