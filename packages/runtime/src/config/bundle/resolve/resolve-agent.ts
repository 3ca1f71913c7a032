/** Resolves an Agent resource to its plan, in which nothing is left to look up. */
import { resolve } from 'node:path';
import { defined } from '../../../json/defined.ts';
import { readDemand } from '../../../json/read-demand.ts';
import type { DeclaredAgent } from '../../declared-agent.ts';
import type { DeclaredExtension, Tier } from '../../declared-extension.ts';
import type { DeclaredTool } from '../../declared-tool.ts';
import { listExtensions } from '../agent-hooks.ts';
import { meansAgentTools } from '../agent-tools.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { agentsOf, findResource, type FoundResource } from '../find-resource.ts';
import type { WrittenReference } from '../kinds/fields.ts';
import { configOf, type ListItem, newNameOf, referenceOf } from '../references.ts';
import { resolveModels } from './resolve-models.ts';
import type { ValueReader } from './value-reader.ts';

/**
 * Resolves an agent of a swarm. `workdir`: the working folder of an agent that does not name one. `packages`: the hash
 * of the bundle's lock files.
 */
export function resolveAgent(
  { scope, loaded }: FoundResource<'Agent'>,
  swarm: FoundResource<'Swarm'>,
  values: ValueReader,
  { workdir, packages }: { readonly workdir: string; readonly packages: string | undefined },
): DeclaredAgent {
  const { spec } = loaded.resource;
  const ofSwarm = swarm.loaded.resource.spec.extensions ?? [];
  const extensions = [
    ...ofSwarm.map((item) => resolveExtension(swarm.scope, item, 'swarm', values)),
    ...listExtensions(scope, loaded, ofSwarm).map(({ item }) => resolveExtension(scope, item, 'agent', values)),
  ];
  const { models, modelRef } = resolveModels(scope, loaded, values);
  const environment = spec.environment && values.readEach(spec.environment, loaded.identity);
  return defined({
    agentName: loaded.name,
    description: spec.description,
    systemPrompt: spec.prompt?.system ?? loaded.prompt,
    models,
    modelRef,
    params: spec.modelConfig?.params && defined(spec.modelConfig.params),
    output: resolveOutput(loaded),
    tools: (spec.tools ?? []).flatMap((item) => resolveTool(scope, item, values)),
    agentTools: (spec.tools ?? []).some((item) => meansAgentTools(scope, referenceOf(item))) || undefined,
    mayAsk: resolveMayAsk(scope, spec.mayAsk, swarm),
    extensions: extensions.filter((extension) => extension !== undefined),
    policy: spec.policy && defined(spec.policy),
    bundleFolder: loaded.folder,
    workdir: spec.workdir === undefined ? workdir : resolve(loaded.folder, spec.workdir),
    environment,
    isolation: spec.isolation === 'agent' ? spec.isolation : undefined,
    maxInstances: spec.maxInstances,
    packages,
    secrets: [...values.secrets],
  });
}

/** Returns the schema for answers without `$schema` and `$id`, which would differ in every copy of a schema. */
function resolveOutput({ resource, outputSchema }: LoadedResourceOf<'Agent'>): DeclaredAgent['output'] {
  const { output } = resource.spec;
  const schema = output?.schema ?? outputSchema;
  return schema && readDemand(defined({ schema, retries: output?.retries }));
}

/** Returns the names of the agents. An agent may be in several swarms; only agents of the same swarm count. */
function resolveMayAsk(
  scope: Scope,
  mayAsk: readonly WrittenReference[] | undefined,
  swarm: FoundResource<'Swarm'>,
): string[] | undefined {
  const agents = agentsOf(swarm.scope, swarm.loaded);
  return mayAsk?.flatMap((written) => {
    const asked = findResource(scope, 'Agent', written)?.loaded;
    return asked !== undefined && agents.includes(asked) ? [asked.name] : [];
  });
}

function resolveExtension(
  scope: Scope,
  item: ListItem,
  tier: Tier,
  values: ValueReader,
): DeclaredExtension | undefined {
  const found = findResource(scope, 'Extension', referenceOf(item))?.loaded;
  if (found === undefined) return undefined;
  const { apiVersion, kind, spec, metadata } = found.resource;
  const config = values.config(spec.config ?? {}, configOf(item), found.identity);
  const keeper = metadata.annotations?.[KEEPER];
  return defined({
    resource: {
      apiVersion,
      kind,
      metadata: { name: newNameOf(item) ?? found.name },
      spec: defined({ entry: spec.entry, config, configSchema: spec.configSchema, compat: spec.compat }),
    },
    root: found.folder,
    tier:
      metadata.annotations?.[TIER] === 'hook'
        ? 'hook'
        : spec.innermost === true && tier === 'agent'
          ? 'innermost'
          : tier,
    keeper: keeper === undefined ? undefined : { entry: keeper },
    digest: found.digest,
    ...originOf(found),
  });
}

/**
 * The name of an annotation. If its value is `hook`, the layers of the Extension are inside those of all other
 * extensions, regardless of the order of the list.
 */
const TIER = 'goondan.ai/tier';

/** The name of an annotation. Its value is the path of the module that keeps the connection of the Extension. */
export const KEEPER = 'goondan.ai/keeper';

/** Returns the origin of a part's module. Only modules of the bundle itself are loaded again when their files change. */
function originOf({ package: from, files, isLazy = false, resource }: LoadedResourceOf<'Extension' | 'Tool'>) {
  const { exclusive = false } = resource.spec;
  return {
    ...(from === undefined ? { files, lazy: isLazy ? (true as const) : undefined } : { package: from }),
    exclusive: exclusive ? (true as const) : undefined,
  };
}

function resolveTool(scope: Scope, item: ListItem, values: ValueReader): DeclaredTool[] {
  const found: LoadedResourceOf<'Tool'> | undefined = findResource(scope, 'Tool', referenceOf(item))?.loaded;
  if (found === undefined) return [];
  const { entry, exports = [], config = {}, configSchema, errorMessageLimit } = found.resource.spec;
  const { name, folder, digest, identity } = found;
  return [
    defined({
      name,
      exports: exports.map((each) => defined(each)),
      config: values.config(config, configOf(item), identity),
      configSchema,
      errorMessageLimit,
      root: folder,
      entry,
      digest,
      ...originOf(found),
    }),
  ];
}
