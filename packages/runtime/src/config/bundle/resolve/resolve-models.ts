/** Resolves the models of an agent: its own, those that its extensions may call, and those that a recording records. */
import type { JsonObject } from '@goondan/types';
import { defined } from '../../../json/defined.ts';
import type { ModelSpec } from '../../model-spec.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { findResource } from '../find-resource.ts';
import type { WrittenReference } from '../kinds/fields.ts';
import { parseModelName } from '../references.ts';
import { providerOf } from '../../provider-variables.ts';
import type { ValueReader } from './value-reader.ts';

export function resolveModels(scope: Scope, agent: LoadedResourceOf<'Agent'>, values: ValueReader) {
  const { modelRef, models: more = [] } = agent.resource.spec.modelConfig;
  const models: Record<string, ModelSpec> = {};
  for (const written of [modelRef, ...more]) addModel(scope, written);
  return { models, modelRef: keyOf(modelRef) };

  function addModel(home: Scope, written: WrittenReference): void {
    const key = keyOf(written);
    if (Object.hasOwn(models, key)) return;
    const named = parseModelName(written);
    if (named !== undefined) {
      models[key] = { ...named, ...ofEnvironment(named.provider, undefined, undefined, agent.identity, values) };
      return;
    }
    const found = findResource(home, 'Model', written);
    if (found === undefined) return;
    models[key] = { ...toModelSpec(found.loaded, values), ...toLimits(found.loaded, found.scope) };
    const { spec } = found.loaded.resource;
    if (spec.provider === 'cassette' && spec.options.mode === 'record' && spec.options.upstream !== undefined) {
      addModel(found.scope, spec.options.upstream);
    }
  }
}

function toModelSpec({ resource: { spec }, identity }: LoadedResourceOf<'Model'>, values: ValueReader): ModelSpec {
  const { provider, model, params } = spec;
  const settings = defined({ provider, model, params: params && defined(params) });
  if (provider === 'scripted') return { ...settings, options: toOptions(spec.options) };
  if (provider === 'cassette') {
    const { upstream, ...options } = spec.options;
    return { ...settings, options: toOptions({ ...options, upstream: upstream && keyOf(upstream) }) };
  }
  const { headers, ...options } = spec.options ?? {};
  const filled = { ...options, headers: headers && values.readEach(headers, identity) };
  const apiKey = spec.apiKey === undefined ? undefined : values.read(spec.apiKey, identity);
  // A key that is written in the bundle is a secret, too.
  if (apiKey !== undefined) values.secrets.add(apiKey);
  const endpoint = spec.endpoint === undefined ? undefined : values.read(spec.endpoint, identity);
  return { ...settings, ...ofEnvironment(provider, apiKey, endpoint, identity, values), options: toOptions(filled) };
}

function toLimits(
  { resource: { spec }, identity }: LoadedResourceOf<'Model'>,
  scope: Scope,
): Pick<ModelSpec, 'limits'> {
  const limits = defined(spec.limits ?? {});
  if (Object.keys(limits).length === 0) return {};
  const countedAs = scope.package === undefined ? identity : `${scope.package} ${identity}`;
  return { limits: { ...limits, countedAs } };
}

/** Reads the provider's own variables here, because agent processes do not get the environment. */
function ofEnvironment(
  provider: string,
  apiKey: string | undefined,
  endpoint: string | undefined,
  who: string,
  values: ValueReader,
): { readonly apiKey?: string; readonly endpoint?: string } {
  const variables = providerOf(provider);
  if (variables === undefined) return defined({ apiKey, endpoint });
  // The bundle's `.env` is not read here, because a bundle must not decide where all requests of a provider go.
  const elsewhere = values.environment[variables.endpoint]?.trim() || undefined;
  return defined({ apiKey: apiKey ?? values.variable(variables.key, who), endpoint: endpoint ?? elsewhere });
}

/** Returns the name by which the agent knows the model. */
function keyOf(written: WrittenReference): string {
  if (typeof written === 'string') return written;
  return `Model/${written.name}`;
}

function toOptions(options: object): JsonObject {
  // Safe: the options were read from JSON.
  return defined(options) as JsonObject;
}
