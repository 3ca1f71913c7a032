/** Resolves the models of an agent, with their keys and endpoints. */
import type { JsonObject } from '@goondan/types';
import { defined } from '../../../json/defined.ts';
import type { ModelSpec } from '../../model-spec.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { listModels, modelKeyOf, modelsOf } from '../list-models.ts';
import { providerOf } from '../../provider-variables.ts';
import type { ValueReader } from './value-reader.ts';

export function resolveModels(scope: Scope, agent: LoadedResourceOf<'Agent'>, values: ValueReader) {
  const models = [...listModels(scope, agent)].map(({ key, named, found }): [string, ModelSpec] => {
    if (found === undefined) {
      return [key, { ...named, ...ofEnvironment(named.provider, undefined, undefined, agent.identity, values) }];
    }
    return [key, { ...toModelSpec(found.loaded, values), ...toLimits(found.loaded, found.scope) }];
  });
  const [own] = modelsOf(agent);
  return { models: Object.fromEntries(models), modelRef: own && modelKeyOf(own.written) };
}

function toModelSpec({ resource: { spec }, identity }: LoadedResourceOf<'Model'>, values: ValueReader): ModelSpec {
  const { provider, model, params } = spec;
  const settings = defined({ provider, model, params: params && defined(params) });
  if (provider === 'scripted') return { ...settings, options: toOptions(spec.options) };
  if (provider === 'cassette') {
    const { upstream, ...options } = spec.options;
    return { ...settings, options: toOptions({ ...options, upstream: upstream && modelKeyOf(upstream) }) };
  }
  const { headers, ...options } = spec.options ?? {};
  const filled = { ...options, headers: headers && values.readEach(headers, identity) };
  const apiKey = spec.apiKey === undefined ? undefined : values.read(spec.apiKey, identity);
  // A key that is written in the bundle is a secret, too.
  if (apiKey !== undefined) values.secrets.add(apiKey);
  const endpoint = spec.endpoint === undefined ? undefined : values.read(spec.endpoint, identity);
  return { ...settings, ...ofEnvironment(provider, apiKey, endpoint, identity, values), options: toOptions(filled) };
}

/** A model of a package has its name also without limits: agents do not know it by that. */
function toLimits(
  { resource: { spec }, identity }: LoadedResourceOf<'Model'>,
  scope: Scope,
): Pick<ModelSpec, 'limits'> {
  const limits = defined(spec.limits ?? {});
  if (Object.keys(limits).length === 0 && scope.package === undefined) return {};
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
): Pick<ModelSpec, 'apiKey' | 'keyVariable' | 'endpoint'> {
  const variables = providerOf(provider);
  if (variables === undefined) return defined({ apiKey, endpoint });
  // The bundle's `.env` is not read here, because a bundle must not decide where all requests of a provider go.
  const elsewhere = values.environment[variables.endpoint]?.trim() || undefined;
  const key =
    apiKey === undefined ? { apiKey: values.variable(variables.key, who), keyVariable: variables.key } : { apiKey };
  return defined({ ...key, endpoint: endpoint ?? elsewhere });
}

function toOptions(options: object): JsonObject {
  // Safe: the options were read from JSON.
  return defined(options) as JsonObject;
}
