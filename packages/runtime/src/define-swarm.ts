/**
 * Makes a plan for `startSwarm` from resources that are written in TypeScript. The resources and the checks are those
 * of a bundle.
 */
import { existsSync, realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoondanError, type JsonObject, type JsonValue, type TypedDemand } from '@goondan/types';
import { API_VERSION } from './config/api-version.ts';
import type { ResourceKind, ResourceOf } from './config/bundle/kinds/resource-schemas.ts';
import type { SourceDocument } from './config/bundle/place.ts';
import { resolveSwarm } from './config/bundle/resolve/resolve-swarm.ts';
import type { Environment } from './config/variable-name.ts';
import type { SwarmPlan } from './config/swarm-plan.ts';
import { copyJsonObject, isPlainObject, NotJson } from './json/copy-json.ts';
import { defined } from './json/defined.ts';
import { describeSchema, standardOf } from './json/standard-schema.ts';
import { realFolder } from './real-folder.ts';

/**
 * A resource as in a `goondan.yaml`; `apiVersion` is optional. The schema in `output` of an agent may be a Standard Schema,
 * such as one of zod.
 */
export type ResourceDefinition = {
  [Kind in ResourceKind]: Omit<ResourceOf<Kind>, 'apiVersion' | 'spec'> & {
    apiVersion?: typeof API_VERSION;
    spec: Kind extends 'Agent' ? AgentSpec : ResourceOf<Kind>['spec'];
  };
}[ResourceKind];

type DeclaredSpec = ResourceOf<'Agent'>['spec'];
type AgentSpec = Omit<DeclaredSpec, 'output'> & {
  output?: Omit<NonNullable<DeclaredSpec['output']>, 'schema'> & Partial<Pick<TypedDemand<unknown>, 'schema'>>;
};

/** The types of the answers of agents, by agent name. The swarm applies no transformation, so they are what a model writes. */
type OutputsOf<Resources extends readonly ResourceDefinition[]> = {
  [Agent in Extract<Resources[number], { kind: 'Agent' }> as Agent['metadata']['name']]: Agent extends {
    spec: { output: { schema: { '~standard': { types?: { input: infer Answer } | undefined } } } };
  }
    ? Answer
    : JsonValue;
};

/** For the type checker only: carries the types of answers from `defineSwarm` to `startSwarm`. */
declare const outputs: unique symbol;
export interface WithOutputs<Outputs> {
  readonly [outputs]?: Outputs;
}

export interface SwarmDefinition<Resources extends readonly ResourceDefinition[] = readonly ResourceDefinition[]> {
  /** The folder that contains all files of entries and prompts; usually `import.meta.dirname`. */
  readonly folder: string;
  readonly resources: Resources;
  /** The name of the swarm. Optional when `resources` has only one swarm, or a swarm called `default`. */
  readonly swarm?: string;
  /** The environment for `valueFrom: { env }`; `process.env` when absent. */
  readonly environment?: Environment;
  /** The working folder of tools, for agents that do not name one; `folder` when absent. */
  readonly workdir?: string;
}

/** A plan for `startSwarm`. */
export interface DefinedSwarm<Outputs = unknown> extends SwarmPlan, WithOutputs<Outputs> {
  readonly bundleFolder: string;
  readonly workspace?: string;
}

/**
 * Checks the resources and makes a plan from them.
 *
 * **Rules** — the checks are those of a bundle; modules are parsed, not imported. Resources in code have no lines: the
 * "line" of a problem is the position of its resource in the list, from 1.
 * **Types** — if an agent has a Standard Schema in `output`, `swarm.ask({ agent })` returns an `output` of its type.
 * **Errors** — `E_BUNDLE_INVALID`, with all problems at once; `E_OUTPUT_INVALID`; those of `resolveSwarm`.
 *
 * @example
 * const swarm = await startSwarm(await defineSwarm({ folder: import.meta.dirname, resources: [model, agent, swarm] }));
 */
export async function defineSwarm<const Resources extends readonly ResourceDefinition[]>({
  folder,
  resources,
  environment = process.env,
  ...options
}: SwarmDefinition<Resources>): Promise<DefinedSwarm<OutputsOf<Resources>>> {
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

/** Replaces a Standard Schema for the answers of an agent by its JSON Schema. */
function withPlainSchema(resource: ResourceDefinition): object {
  // A program in JavaScript may pass anything.
  const { spec, metadata } = Object(resource) as Partial<Extract<ResourceDefinition, { kind: 'Agent' }>>;
  const output = Object(spec).output as AgentSpec['output'];
  const schema: unknown = output?.schema;
  if (typeof schema !== 'object' || schema === null || standardOf(schema) === undefined) return resource;
  try {
    return { ...resource, spec: { ...spec, output: { ...output, schema: describeSchema(schema) } } };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const message = `The schema for answers of agent "${metadata?.name}" has no JSON Schema: ${problem}.`;
    throw new GoondanError('E_OUTPUT_INVALID', message, { cause: error });
  }
}

function toJson(resource: ResourceDefinition, number: number): JsonObject {
  try {
    return copyJsonObject(withPlainSchema(resource), { omitUndefined: true });
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
