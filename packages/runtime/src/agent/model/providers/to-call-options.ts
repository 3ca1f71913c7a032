/** Builds the request to a provider: the prompt, the tools, the settings. */
import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { JsonSchema, ModelParams, ProviderOptions, ToolCatalogItem } from '@goondan/types';
import { toProviderName } from '../../tool/provider-tool-name.ts';
import type { ModelRequest } from '../model-port.ts';
import { mergeProviderOptions } from './merge-provider-options.ts';
import type { ProviderName } from './provider-table.ts';
import type { CallSettings } from './read-provider-options.ts';
import { breakpoint, type CacheRules, type MarkedRequest, setBreakpoints } from './set-breakpoints.ts';
import { toPrompt, type PromptFiles, type PromptMemo } from './to-prompt.ts';

/** The parts of a call that are the same for every request to a model. */
interface CalledModel {
  readonly name?: ProviderName;
  readonly modelId: string;
  readonly params: ModelParams;
  readonly memo: PromptMemo;
  readonly files?: PromptFiles;
  /** Absent when the provider needs no marks. */
  readonly cache?: CacheRules | undefined;
  /** Returns the provider options for a call with this schema for the answer. */
  readonly schemaOptions?: ((schema: JsonSchema) => ProviderOptions) | undefined;
}

export function toCallOptions(
  request: ModelRequest,
  settings: Pick<CallSettings, 'systemMessages' | 'providerOptions' | 'cache'>,
  { params, memo, schemaOptions, files, ...model }: CalledModel,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const { maxTokens, providerOptions: _, ...sampling } = { ...params, ...request.params };
  const { outputSchema } = request;
  const providerOptions = mergeProviderOptions(
    outputSchema && schemaOptions?.(outputSchema),
    settings.providerOptions,
    params.providerOptions,
    request.params.providerOptions,
  );
  const { messages, marksTools } = mark(request, settings, model, providerOptions);
  const tools = request.tools.map(toFunctionTool);
  const lastTool = tools.at(-1);
  if (marksTools && lastTool !== undefined) Object.assign(lastTool, breakpoint(model.cache?.provider ?? ''));
  return {
    ...sampling,
    prompt: toPrompt(messages, settings.systemMessages, memo, model.name, files),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    abortSignal,
    ...(tools.length > 0 && { tools }),
    ...(providerOptions !== undefined && { providerOptions }),
    // Safe: the schema was checked when the answer was demanded.
    ...(outputSchema !== undefined && { responseFormat: { type: 'json', schema: outputSchema as JSONSchema7 } }),
  };
}

function mark(
  request: ModelRequest,
  settings: Pick<CallSettings, 'systemMessages' | 'cache'>,
  { modelId, cache }: Pick<CalledModel, 'modelId' | 'cache'>,
  providerOptions: ProviderOptions | undefined,
): MarkedRequest {
  const { messages, tools, stableCount } = request;
  if (cache === undefined || !settings.cache || stableCount === undefined) return { messages, marksTools: false };
  const rules = { ...cache, leastTokens: cache.leastTokens(modelId) };
  return setBreakpoints({ messages, tools, stableCount }, settings.systemMessages, rules, providerOptions);
}

function toFunctionTool(tool: ToolCatalogItem): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: toProviderName(tool.name),
    description: tool.description,
    // Safe: the schemas of a catalog were checked when the tool was loaded.
    inputSchema: (tool.parameters ?? { type: 'object', properties: {} }) as LanguageModelV4FunctionTool['inputSchema'],
  };
}
