/** One finished part of a provider's answer as the message part that is kept of it. */
import type {
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
} from '@ai-sdk/provider';
import type { AssistantPart, FilePart, JsonValue, ProviderOptions, ToolCallPart, ToolResultPart } from '@goondan/types';
import { keepPart } from './kept-part.ts';
import { toJson } from './to-json.ts';

/** Comes with every streamed reply of Anthropic's and repeats the id and the usage: it is about the reply, not in it. */
const notContent = 'anthropic.message_start';

/** `undefined` for what is not content. A part this code does not know is kept as a custom part, never refused. */
export function toReplyPart(part: LanguageModelV4Content, provider: string): AssistantPart | undefined {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text, ...metadata(part.providerMetadata) };
    case 'tool-call':
      return toToolCall(part);
    case 'tool-result':
      // A preliminary result is replaced by the final one that follows.
      return part.preliminary === true ? undefined : toToolResult(part);
    case 'file':
      return toFile(part);
    case 'custom':
      if (part.kind === notContent) return undefined;
      return { type: 'custom', kind: part.kind, ...metadata(part.providerMetadata) };
    default:
      return keepPart(provider, part);
  }
}

/** What the provider says about a part is what it wants to get back with it (signatures of reasoning, for one). */
export function metadata(providerMetadata: object | undefined): { providerOptions?: ProviderOptions } {
  if (providerMetadata === undefined) return {};
  // The contract says: an object for each provider.
  return { providerOptions: toJson(providerMetadata) as ProviderOptions };
}

function toToolCall(part: LanguageModelV4ToolCall): ToolCallPart {
  return {
    type: 'tool-call',
    toolCallId: part.toolCallId,
    toolName: part.toolName,
    input: parseInput(part.input),
    ...(part.providerExecuted === true && { providerExecuted: true }),
    ...metadata(part.providerMetadata),
  };
}

/** Text that is not JSON is kept as it is: the check of the arguments tells the model so. */
function parseInput(input: string): JsonValue {
  if (input.trim() === '') return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function toToolResult(part: LanguageModelV4ToolResult): ToolResultPart {
  const value = toJson(part.result);
  const text = part.isError !== true && typeof value === 'string';
  return {
    type: 'tool-result',
    toolCallId: part.toolCallId,
    toolName: part.toolName,
    output: text ? { type: 'text', value } : { type: part.isError === true ? 'error-json' : 'json', value },
    ...metadata(part.providerMetadata),
  };
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
