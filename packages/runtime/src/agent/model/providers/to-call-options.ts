/** Builds the request to a provider: the prompt, the tools, the settings. */
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { ModelParams, ToolCatalogItem } from '@goondan/types';
import { toProviderName } from '../../tool/provider-tool-name.ts';
import type { ModelRequest } from '../model-port.ts';
import { mergeProviderOptions } from './merge-provider-options.ts';
import type { CallSettings } from './read-provider-options.ts';
import { toPrompt, type PromptMemo } from './to-prompt.ts';

export function toCallOptions(
  request: ModelRequest,
  { systemMessages, providerOptions: always }: Pick<CallSettings, 'systemMessages' | 'providerOptions'>,
  { params, memo }: { readonly params: ModelParams; readonly memo: PromptMemo },
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const { maxTokens, providerOptions: _, ...settings } = { ...params, ...request.params };
  const providerOptions = mergeProviderOptions(always, params.providerOptions, request.params.providerOptions);
  return {
    ...settings,
    prompt: toPrompt(request.messages, systemMessages, memo),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    abortSignal,
    ...(request.tools.length > 0 && { tools: request.tools.map(toFunctionTool) }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
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
