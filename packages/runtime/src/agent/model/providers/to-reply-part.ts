/** Converts one finished part of a provider's answer to the message part that is stored. */
import type {
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
} from '@ai-sdk/provider';
import type { AssistantPart, FilePart, JsonValue, ProviderOptions, ToolCallPart, ToolResultPart } from '@goondan/types';
import { optionsKeyOf } from './foreign-part.ts';
import { keepPart } from './kept-part.ts';
import { toJson } from './to-json.ts';

/** Every streamed reply of Anthropic has this part. It repeats the id and the usage, and is not content. */
const notContent = 'anthropic.message_start';

/** Returns `undefined` for a part that is not content. An unknown part is kept as a custom part. */
export function toReplyPart(part: LanguageModelV4Content, provider: string): AssistantPart | undefined {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text, ...metadata(part.providerMetadata) };
    case 'tool-call':
      return toToolCall(part, provider);
    case 'tool-result':
      // A preliminary result is dropped, because the final one follows.
      return part.preliminary === true ? undefined : toToolResult(part, provider);
    case 'file':
      return toFile(part);
    case 'custom':
      if (part.kind === notContent) return undefined;
      return { type: 'custom', kind: part.kind, ...metadata(part.providerMetadata) };
    default:
      return keepPart(provider, part);
  }
}

/**
 * Converts the metadata of a part to its options, because the provider needs it back with the part (for example,
 * signatures of reasoning).
 */
export function metadata(providerMetadata: object | undefined): { providerOptions?: ProviderOptions } {
  if (providerMetadata === undefined) return {};
  // Safe: by the SDK's types, the metadata has an object for each provider.
  return { providerOptions: toJson(providerMetadata) as ProviderOptions };
}

function toToolCall(part: LanguageModelV4ToolCall, provider: string): ToolCallPart {
  const isExecuted = part.providerExecuted === true;
  return {
    type: 'tool-call',
    toolCallId: part.toolCallId,
    toolName: part.toolName,
    input: parseInput(part.input),
    ...(isExecuted && { providerExecuted: true }),
    ...metadata(isExecuted ? named(part.providerMetadata, provider) : part.providerMetadata),
  };
}

/**
 * Parses the arguments of a call. Text that is not JSON is returned as it is; the validation of the arguments then
 * reports the mistake to the model.
 */
function parseInput(input: string): JsonValue {
  if (input.trim() === '') return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function toToolResult(part: LanguageModelV4ToolResult, provider: string): ToolResultPart {
  const value = toJson(part.result);
  const text = part.isError !== true && typeof value === 'string';
  return {
    type: 'tool-result',
    toolCallId: part.toolCallId,
    toolName: part.toolName,
    output: text ? { type: 'text', value } : { type: part.isError === true ? 'error-json' : 'json', value },
    ...metadata(named(part.providerMetadata, provider)),
  };
}

/** Names the provider, so that a tool that it ran itself is not sent to another provider. */
function named(providerMetadata: object | undefined, provider: string): object {
  return { [optionsKeyOf(provider)]: {}, ...providerMetadata };
}

function toFile(part: LanguageModelV4File): FilePart {
  return {
    type: 'file',
    data: part.data.type === 'url' ? part.data.url.href : toBase64(part.data.data),
    mediaType: part.mediaType,
    ...metadata(part.providerMetadata),
  };
}

function toBase64(data: Uint8Array | string): string {
  return typeof data === 'string' ? data : Buffer.from(data).toString('base64');
}
