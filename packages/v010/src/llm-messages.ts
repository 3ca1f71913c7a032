/** Converts messages between the shape of v0.10 and ours. */
import type {
  AssistantPart,
  JsonObject,
  JsonValue,
  ModelMessage,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '@goondan/types';
import type { LlmMessage, OldAttachment, OldToolCall } from './old-types.ts';

/** Returns a message in the shape of v0.10; one for each result of a message with several tool results. */
export function toLlmMessages(id: string, message: ModelMessage): LlmMessage[] {
  switch (message.role) {
    case 'system':
      return [{ id, role: 'system', content: message.content }];
    case 'user':
      return [userMessage(id, message.content)];
    case 'assistant':
      return [assistantMessage(id, message.content)];
    case 'tool':
      return message.content.map((part, number) => toolMessage(number === 0 ? id : `${id}-${number}`, part));
  }
}

function userMessage(id: string, content: string | UserPart[]): LlmMessage {
  if (typeof content === 'string') return { id, role: 'user', content };
  const attachments = content.flatMap((part) => (part.type === 'text' ? [] : [toAttachment(part)]));
  return { id, role: 'user', content: textIn(content), ...(attachments.length === 0 ? {} : { attachments }) };
}

function toAttachment(part: Exclude<UserPart, { type: 'text' }>): OldAttachment {
  const data = part.type === 'image' ? part.image : part.data;
  const isAddress = /^(?:https?|data|blob):/.test(data);
  const { mediaType } = part;
  return {
    type: part.type,
    ...(isAddress ? { url: data } : { base64: data }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
  };
}

function assistantMessage(id: string, content: string | AssistantPart[]): LlmMessage {
  if (typeof content === 'string') return { id, role: 'assistant', content };
  const text = textIn(content);
  const toolCalls = toOldCalls(content);
  return {
    id,
    role: 'assistant',
    ...(text === '' ? {} : { content: text }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

function toolMessage(id: string, { toolCallId, toolName, output }: ToolResultPart): LlmMessage {
  const value =
    output.type === 'execution-denied'
      ? { denied: output.reason ?? true }
      : // Safe: content parts are JSON, but TypeScript does not accept an interface as JSON.
        (output.value as unknown as JsonValue);
  return { id, role: 'tool', toolCallId, toolName, output: value };
}

export function textIn(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.flatMap((part) => (part.type === 'text' ? (part.text ?? '') : [])).join('');
}

/** Returns the calls that the agent has to run; the provider has run the others itself. */
export function toOldCalls(content: readonly AssistantPart[]): OldToolCall[] {
  return content.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted !== true
      ? [{ id: part.toolCallId, name: part.toolName, args: objectOf(part.input) }]
      : [],
  );
}

export function toCallPart({ id, name, args }: OldToolCall): ToolCallPart {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: args };
}

function objectOf(input: JsonValue): JsonObject {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
}

/** Returns the problem with a message, or `undefined` when it is a message of v0.10. */
export function problemWithMessage(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null) return 'a message is not an object';
  const { role, content, toolCallId, toolName, output } = message as Record<string, unknown>;
  switch (role) {
    case 'system':
    case 'user':
      return typeof content === 'string' ? undefined : `the content of a ${role} message is not a text`;
    case 'assistant':
      return content === undefined || typeof content === 'string'
        ? undefined
        : 'the content of an assistant message is not a text';
    case 'tool':
      return typeof toolCallId === 'string' && typeof toolName === 'string' && output !== undefined
        ? undefined
        : 'a tool message has no toolCallId, toolName or output';
    default:
      return `the role of a message is ${JSON.stringify(role)}, not system, user, assistant or tool`;
  }
}

export function toModelMessage(message: LlmMessage): ModelMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user': {
      const { content, attachments = [] } = message;
      if (attachments.length === 0) return { role: 'user', content };
      return { role: 'user', content: [{ type: 'text', text: content }, ...attachments.map(toPart)] };
    }
    case 'assistant': {
      const { content = '', toolCalls = [] } = message;
      if (toolCalls.length === 0) return { role: 'assistant', content };
      const text: AssistantPart[] = content === '' ? [] : [{ type: 'text', text: content }];
      return { role: 'assistant', content: [...text, ...toolCalls.map(toCallPart)] };
    }
    case 'tool': {
      const { toolCallId, toolName, output } = message;
      const value =
        typeof output === 'string'
          ? ({ type: 'text', value: output } as const)
          : ({ type: 'json', value: output } as const);
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: value }] };
    }
  }
}

function toPart({ type, url, base64, mimeType }: OldAttachment): UserPart {
  const data = url ?? base64 ?? '';
  if (type === 'image') return { type, image: data, ...(mimeType === undefined ? {} : { mediaType: mimeType }) };
  return { type, data, mediaType: mimeType ?? 'application/octet-stream' };
}
