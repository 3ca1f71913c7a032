/**
 * Opens a model of one of the four providers. Mistakes in its resource (no key, no endpoint, an unknown option) are
 * reported here, at start, and not by the first call.
 */
import { GoondanError, type ModelParams } from '@goondan/types';
import { defined } from '../../../json/defined.ts';
import type { Model, ModelDeps } from '../model-port.ts';
import type { ModelSpec } from '../../../config/model-spec.ts';
import { callProvider } from './call-provider.ts';
import { type ModelShape, shapeOf } from './model-shape.ts';
import { providers, type Provider, type ProviderName } from './provider-table.ts';
import { readProviderOptions } from './read-provider-options.ts';
import type { PromptMemo } from './to-prompt.ts';

export function openProviderModel(name: ProviderName, spec: ModelSpec, deps: ModelDeps): Model {
  const provider: Provider = providers[name];
  const label = `${name}/${spec.model}`;
  const settings = readProviderOptions(spec.options ?? {}, provider.systemMessages, label);
  const apiKey = findKey(provider, spec, deps, label);
  const baseURL = findEndpoint(provider, spec, deps, label);
  const memo: PromptMemo = new WeakMap();
  let takesSchema: ReturnType<NonNullable<Provider['loadTakesSchema']>> | undefined;
  const params = spec.params ?? {};
  const shape = shapeOf(spec, settings);
  let limited: Promise<{ readonly params: ModelParams; readonly shape: ModelShape }> | undefined;
  const loadLimited = async () => {
    const limit = await defaultLimit(provider, spec.model, label, deps.warn);
    return { params: { ...params, ...limit }, shape: shapeOf(spec, settings, limit) };
  };

  const loading = provider.load();
  // Prevents an unhandled rejection; the first call awaits `loading` and reports the failure.
  loading.catch(() => {});

  return {
    async generate(request) {
      const { make, ...loaded } = await loading;
      const isLimited = (request.params.maxTokens ?? params.maxTokens) !== undefined;
      return callProvider(request, {
        ...loaded,
        name,
        modelId: spec.model,
        label,
        clock: deps.clock,
        fetch: deps.fetch ?? fetch,
        apiKey,
        keySource: keySourceOf(spec, provider),
        address: toAddress(baseURL),
        settings,
        ...(isLimited ? { params, shape } : await (limited ??= loadLimited())),
        memo,
        cache: provider.cache,
        schemaOptions: provider.schemaOptions,
        placeOfResult: (mediaType) => provider.placeOfResult(mediaType),
        make: (fetch) => make(spec.model, { ...defined({ apiKey }), baseURL, headers: settings.headers, fetch }),
      });
    },
    async takesSchema(schema, tools) {
      if (settings.schemaMode !== undefined) return settings.schemaMode === 'native';
      takesSchema ??= provider.loadTakesSchema?.(spec.model) ?? Promise.resolve(() => false);
      return (await takesSchema)(schema, tools.length > 0);
    },
  };
}

/** Returns the URL without query and credentials, which may be secrets. */
function toAddress(baseURL: string): string {
  const { origin, pathname } = new URL(baseURL);
  return `${origin}${pathname}`;
}

function findKey(provider: Provider, spec: ModelSpec, deps: ModelDeps, label: string): string | undefined {
  const variable = provider.keyVariable;
  const key = spec.apiKey ?? (variable === undefined ? undefined : deps.environment[variable]);
  // A pasted key often ends in a line break, which is not allowed in a header.
  const trimmed = key?.trim();
  if (variable !== undefined && !trimmed) {
    throw new GoondanError('E_MODEL_KEY', `Model ${label} has no API key: ${variable} is not set.`, {
      suggestion: `Set ${variable}, or the Model's apiKey.`,
    });
  }
  return trimmed || undefined;
}

function keySourceOf({ apiKey, keyVariable }: ModelSpec, provider: Provider): string {
  if (keyVariable !== undefined) return keyVariable;
  return apiKey === undefined ? (provider.keyVariable ?? 'apiKey') : 'apiKey of the Model';
}

function findEndpoint(provider: Provider, spec: ModelSpec, deps: ModelDeps, label: string): string {
  const known = provider.endpoint;
  const fromEnvironment = known === undefined ? undefined : deps.environment[known.variable]?.trim();
  const address = spec.endpoint ?? (fromEnvironment || known?.address);
  if (address === undefined) {
    throw new GoondanError('E_RESOURCE_INVALID', `Model ${label} has no endpoint.`, {
      suggestion: 'Set `endpoint`, for example http://localhost:11434/v1 for Ollama.',
    });
  }
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new GoondanError('E_RESOURCE_INVALID', `The endpoint of model ${label} is not an http(s) URL: "${address}".`);
  }
  // The providers' own tools accept a URL without a path; their packages need the version in the path.
  if (known !== undefined && url.pathname === '/') url.pathname = `/${known.version}`;
  return url.href.replace(/\/+$/, '');
}

/** The limit for a model that is unknown to the provider's package. */
const UNKNOWN_MODEL_TOKENS = 8_192;

/**
 * Returns the token limit for replies when none is configured: no limit, unless the provider requires one. For an
 * unknown model, it warns that the limit is a guess.
 */
async function defaultLimit(
  provider: Provider,
  modelId: string,
  label: string,
  warn: ModelDeps['warn'],
): Promise<Pick<ModelParams, 'maxTokens'>> {
  if (provider.loadMostTokens === undefined) return {};
  const maxTokens = await provider.loadMostTokens(modelId);
  if (maxTokens !== undefined) return { maxTokens };
  warn?.(
    `The output limit of ${label} is not known, so its replies end after ${UNKNOWN_MODEL_TOKENS} tokens. ` +
      'Set `params.maxTokens` of the Model to change that.',
  );
  return { maxTokens: UNKNOWN_MODEL_TOKENS };
}
