/**
 * The providers: the endpoint, environment variables and package of each. A package is imported only when one of its
 * models is opened, because each costs 20–70 ms and up to 20 MB.
 */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { JsonSchema, ProviderOptions } from '@goondan/types';
import { providerVariables } from '../../../config/provider-variables.ts';
import { isPictureType } from '../../../files/detect-media-type.ts';
import { fitsStrictly } from './fits-strictly.ts';
import type { CacheRules } from './set-breakpoints.ts';
import type { ResultFilePlace, SystemPlacement } from './to-prompt.ts';

interface ProviderSettings {
  /** Absent when there is no key. */
  readonly apiKey?: string;
  readonly baseURL: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof fetch;
}

export interface Provider {
  /** The environment variable with the key. When absent, no key is needed and none is read from the environment. */
  readonly keyVariable?: string;
  /** When absent, the model's spec must contain the endpoint. */
  readonly endpoint?: { readonly variable: string; readonly address: string; readonly version: string };
  readonly systemMessages: SystemPlacement;
  /** Tells where the provider accepts a file of this media type that a tool returned. */
  placeOfResult(mediaType: string): ResultFilePlace;
  /**
   * `package`: the name and version of the package. Another version may build a different request from the same
   * messages. `make`: makes a model object for one call. This costs microseconds, and gives each call its own `fetch`.
   */
  load(): Promise<{
    readonly package: string;
    make(this: void, modelId: string, settings: ProviderSettings): LanguageModelV4;
  }>;
  /**
   * Present when the provider requires a token limit in every request. Returns the maximum number of tokens the model
   * can write; `undefined` for an unknown model.
   */
  loadMostTokens?(modelId: string): Promise<number | undefined>;
  /** Absent when the provider caches without marks, or not at all. */
  readonly cache?: CacheRules;
  /**
   * Returns a function that tells whether the model has a mode for JSON Schemas that takes this schema, also beside tools.
   * When absent, this is not known for any model of the provider.
   */
  loadTakesSchema?(modelId: string): Promise<(schema: JsonSchema, hasTools: boolean) => boolean>;
  /** Returns provider options for a call in that mode. */
  schemaOptions?(this: void, schema: JsonSchema): ProviderOptions;
}

/**
 * The minimum lengths that Anthropic caches, by the name of the model; 1024 for all others. The provider ignores a mark
 * on a shorter prompt.
 */
const leastCachedByAnthropic: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/opus-4-[5-9]|haiku-4/, 4_096],
  [/haiku-3|3-haiku|3-5-haiku|sonnet-4-[6-9]/, 2_048],
];

/** OpenAI's models from before its mode for JSON Schemas. */
const withoutSchemas = /^(gpt-3\.5|gpt-4(-(0|1|3|turbo|vision).*)?$|gpt-4o-2024-05-13|chatgpt-4o|o1-(mini|preview))/;
/** The strict mode refuses a schema that does not fit its rules, so other schemas are only a request to the model. */
const strictness = (schema: JsonSchema) => (fitsStrictly(schema) ? {} : { strictJsonSchema: false });

const PDF = 'application/pdf';

/** The files that OpenAI's chat API takes. */
function isChatFile(mediaType: string): boolean {
  return isPictureType(mediaType) || [PDF, 'audio/wav', 'audio/mp3', 'audio/mpeg'].includes(mediaType);
}

export const providers = {
  anthropic: {
    keyVariable: providerVariables.anthropic.key,
    endpoint: { variable: providerVariables.anthropic.endpoint, address: 'https://api.anthropic.com', version: 'v1' },
    systemMessages: 'front',
    placeOfResult: (mediaType) => (isPictureType(mediaType) || mediaType === PDF ? 'inside' : 'nowhere'),
    async load() {
      const { createAnthropic, VERSION } = await import('@ai-sdk/anthropic');
      return {
        package: `@ai-sdk/anthropic@${VERSION}`,
        make: (modelId, settings) => createAnthropic(settings)(modelId),
      };
    },
    async loadMostTokens(modelId) {
      // The packages of other providers that offer Anthropic's models import this internal module, too.
      const { getModelCapabilities } = await import('@ai-sdk/anthropic/internal');
      const { isKnownModel, maxOutputTokens } = getModelCapabilities(modelId);
      return isKnownModel ? maxOutputTokens : undefined;
    },
    cache: {
      provider: 'anthropic',
      mostMarks: 4,
      lookback: 20,
      leastTokens: (modelId) => leastCachedByAnthropic.find(([name]) => name.test(modelId))?.[1] ?? 1_024,
    },
    async loadTakesSchema(modelId) {
      const { getModelCapabilities, supportsNativeStructuredOutputSchema } = await import('@ai-sdk/anthropic/internal');
      const { supportsStructuredOutput } = getModelCapabilities(modelId);
      return (schema) => supportsStructuredOutput && supportsNativeStructuredOutputSchema(schema);
    },
    // Otherwise the package may choose a tool of its own, which the runtime would not see.
    schemaOptions: () => ({ anthropic: { structuredOutputMode: 'outputFormat' } }),
  },
  google: {
    keyVariable: providerVariables.google.key,
    endpoint: {
      variable: providerVariables.google.endpoint,
      address: 'https://generativelanguage.googleapis.com',
      version: 'v1beta',
    },
    systemMessages: 'front',
    placeOfResult: () => 'inside',
    async load() {
      const { createGoogle, VERSION } = await import('@ai-sdk/google');
      return { package: `@ai-sdk/google@${VERSION}`, make: (modelId, settings) => createGoogle(settings)(modelId) };
    },
    async loadTakesSchema(modelId) {
      const { getGoogleLanguageModelEntry } = await import('@ai-sdk/google/internal');
      const { withFunctionTools } = getGoogleLanguageModelEntry(modelId).capabilities.language.structuredOutput;
      const isGemini = /(^|\/)gemini-/i.test(modelId);
      return (_schema, hasTools) => isGemini && (!hasTools || withFunctionTools);
    },
  },
  openai: {
    keyVariable: providerVariables.openai.key,
    endpoint: { variable: providerVariables.openai.endpoint, address: 'https://api.openai.com', version: 'v1' },
    systemMessages: 'in-place',
    placeOfResult: (mediaType) => (isChatFile(mediaType) ? 'after' : 'nowhere'),
    async load() {
      const { createOpenAI, VERSION } = await import('@ai-sdk/openai');
      // Without `chat`, the package posts to `/responses`, which stores the conversation on OpenAI's servers.
      return {
        package: `@ai-sdk/openai@${VERSION}`,
        make: (modelId, settings) => createOpenAI(settings).chat(modelId),
      };
    },
    loadTakesSchema: async (modelId) => () => !withoutSchemas.test(modelId),
    schemaOptions: (schema) => ({ openai: strictness(schema) }),
  },
  'openai-compatible': {
    systemMessages: 'joined',
    // Some servers take more types of images than OpenAI.
    placeOfResult: (mediaType) => (isChatFile(mediaType) || /^(?:image|video)\//.test(mediaType) ? 'after' : 'nowhere'),
    async load() {
      const { createOpenAICompatible, VERSION } = await import('@ai-sdk/openai-compatible');
      return {
        package: `@ai-sdk/openai-compatible@${VERSION}`,
        make: (modelId, settings) =>
          // A request has a schema only if `schemaMode` is `native`.
          createOpenAICompatible({
            name: 'openaiCompatible',
            includeUsage: true,
            supportsStructuredOutputs: true,
            ...settings,
          })(modelId),
      };
    },
    schemaOptions: (schema) => ({ openaiCompatible: strictness(schema) }),
  },
} as const satisfies Record<string, Provider>;

export type ProviderName = keyof typeof providers;
