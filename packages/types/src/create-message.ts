/** Functions that create messages and fill in their ids, dates and sources. */
import type { JsonValue } from './json.ts';
import type { MessageLifetime, MessageSource, NewMessage } from './message.ts';
import type { AssistantPart, ModelMessage, UserPart } from './model-message.ts';

/** Optional fields of a new message. */
export interface MessageOptions {
  id?: string;
  createdAt?: Date;
  /** The author. When absent, it follows from the role; if an extension emits the message, it is that extension. */
  source?: MessageSource;
  lifetime?: MessageLifetime;
}

type Metadata = Record<string, JsonValue>;

/**
 * @example createSystemMessage('Earlier: the user asked for tea.', { 'compaction.summary': true })
 * @example createSystemMessage('It is raining.', {}, { lifetime: 'turn' })
 */
export function createSystemMessage(
  content: string,
  metadata: Metadata = {},
  options: MessageOptions = {},
): NewMessage {
  return createMessage({ role: 'system', content }, { type: 'system' }, metadata, options);
}

/** @example createUserMessage('What is the weather in Seoul?') */
export function createUserMessage(
  content: string | UserPart[],
  metadata: Metadata = {},
  options: MessageOptions = {},
): NewMessage {
  return createMessage({ role: 'user', content }, { type: 'user' }, metadata, options);
}

/** @example createAssistantMessage('It is sunny.', {}, { source: { type: 'assistant', stepId } }) */
export function createAssistantMessage(
  content: string | AssistantPart[],
  metadata: Metadata = {},
  options: MessageOptions = {},
): NewMessage {
  return createMessage({ role: 'assistant', content }, { type: 'assistant', stepId: '' }, metadata, options);
}

function createMessage(
  data: ModelMessage,
  source: MessageSource,
  metadata: Metadata,
  options: MessageOptions,
): NewMessage {
  const { id, createdAt, source: given, ...others } = options;
  return {
    id: id ?? `msg-${crypto.randomUUID()}`,
    data,
    metadata,
    createdAt: createdAt ?? new Date(),
    source: given ?? byDefault(source),
    // An unknown option stays in the message, so that it is refused when the message is emitted.
    ...others,
  };
}

/** Marks a source that nobody has chosen. Another copy of this package recognises the mark, too. */
const mark = Symbol.for('goondan.defaultSource');

function byDefault(source: MessageSource): MessageSource {
  // Not enumerable, so that the mark shows up neither in logs nor in comparisons.
  return Object.defineProperty({ ...source }, mark, { value: true });
}

/** Returns true if a function of this package has filled in the source of a message, and nobody has chosen it. */
export function isDefaultSource(source: unknown): boolean {
  return typeof source === 'object' && source !== null && mark in source;
}
