/**
 * The messages that a model reads and writes. They have the shapes of the AI SDK's `ModelMessage`, with one difference:
 * all values are JSON (file data is a string), because a conversation is stored as JSON lines. In a conversation, the
 * bytes of a file are stored once, outside of it, and a part has a reference to them: see `file-reference.ts`.
 */
import type { JsonObject, JsonValue } from './json.ts';

/** Provider-specific options, keyed by the provider's name: `{ anthropic: { cacheControl: … } }`. */
export type ProviderOptions = Record<string, JsonObject>;

export interface TextPart {
  type: 'text';
  text: string;
  providerOptions?: ProviderOptions;
}

export interface ImagePart {
  type: 'image';
  /** The image: a reference to stored bytes, a URL, or bytes that are not stored yet, as Base64 or a data URL. */
  image: string;
  mediaType?: string;
  filename?: string;
  /** The number of bytes; present with a reference. */
  size?: number;
  providerOptions?: ProviderOptions;
}

export interface FilePart {
  type: 'file';
  /** The file: a reference to stored bytes, a URL, or bytes that are not stored yet, as Base64 or a data URL. */
  data: string;
  mediaType: string;
  filename?: string;
  /** The number of bytes; present with a reference. */
  size?: number;
  providerOptions?: ProviderOptions;
}

export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  providerOptions?: ProviderOptions;
}

/** A part that only one provider understands. It is kept unchanged, and its `kind` is `<provider>.<part>`. */
export interface CustomPart {
  type: 'custom';
  kind: `${string}.${string}`;
  providerOptions?: ProviderOptions;
}

export interface ToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  /** The arguments as the model wrote them, not validated yet. */
  input: JsonValue;
  providerOptions?: ProviderOptions;
  /** True when the provider ran the tool itself, such as a web search. The result is then in the same message. */
  providerExecuted?: boolean;
}

export type ToolResultOutput = (
  | { type: 'text'; value: string }
  | { type: 'json'; value: JsonValue }
  | { type: 'execution-denied'; reason?: string }
  | { type: 'error-text'; value: string }
  | { type: 'error-json'; value: JsonValue }
  /** Text, images and files together. A tool returns this shape to show the model an image or a file. */
  | { type: 'content'; value: ContentPart[] }
) & { providerOptions?: ProviderOptions };

export interface ToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: ToolResultOutput;
  providerOptions?: ProviderOptions;
}

/** A part of an input, of a user message or of a tool result: text, an image or a file. */
export type ContentPart = TextPart | ImagePart | FilePart;
export type UserPart = ContentPart;
export type AssistantPart = TextPart | FilePart | ReasoningPart | CustomPart | ToolCallPart | ToolResultPart;

export interface SystemModelMessage {
  role: 'system';
  content: string;
  providerOptions?: ProviderOptions;
}

export interface UserModelMessage {
  role: 'user';
  content: string | UserPart[];
  providerOptions?: ProviderOptions;
}

export interface AssistantModelMessage {
  role: 'assistant';
  content: string | AssistantPart[];
  providerOptions?: ProviderOptions;
}

export interface ToolModelMessage {
  role: 'tool';
  content: ToolResultPart[];
  providerOptions?: ProviderOptions;
}

export type ModelMessage = SystemModelMessage | UserModelMessage | AssistantModelMessage | ToolModelMessage;

/** The name that older documents use for {@link ModelMessage}. */
export type CoreMessage = ModelMessage;
