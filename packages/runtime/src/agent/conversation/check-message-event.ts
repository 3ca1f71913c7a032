/**
 * Every message event from outside enters the conversation here: it is checked once, copied and frozen. The rest of the
 * runtime does not check it again.
 */
import {
  GoondanError,
  type Message,
  type MessageEvent,
  type MessageLifetime,
  type MessageSource,
  type ModelMessage,
} from '@goondan/types';
import { findUnknownField, type KnownFields, knownFields } from '../../config/find-unknown-field.ts';
import { copyJsonObject, isPlainObject, type NotJson } from '../../json/copy-json.ts';

/**
 * Returns the event with a frozen copy of its message. Throws `E_MESSAGE_INVALID`; the text of the error names the
 * problem.
 */
export function checkMessageEvent(event: unknown): MessageEvent {
  if (!isPlainObject(event)) throw invalid('the event is not an object');
  switch (event.type) {
    case 'append':
      refuseUnknown(event, eventFields.append);
      return Object.freeze({ type: 'append', message: checkMessage(event.message) });
    case 'replace':
      refuseUnknown(event, eventFields.replace);
      return Object.freeze({
        type: 'replace',
        targetId: checkText(event.targetId, 'targetId'),
        message: checkMessage(event.message),
      });
    case 'remove':
      refuseUnknown(event, eventFields.remove);
      return Object.freeze({ type: 'remove', targetId: checkText(event.targetId, 'targetId') });
    case 'truncate':
      refuseUnknown(event, eventFields.truncate);
      return Object.freeze({ type: 'truncate' });
    default:
      throw invalid(`type ${quote(event.type)} is not one of append, replace, remove, truncate`);
  }
}

type EventOf<Type> = Extract<MessageEvent, { type: Type }>;

const otherNames = { id: 'targetId', messageId: 'targetId' } as const;
const eventFields = {
  append: knownFields<EventOf<'append'>>('an append event', { type: true, message: true }),
  replace: knownFields<EventOf<'replace'>>(
    'a replace event',
    { type: true, targetId: true, message: true },
    otherNames,
  ),
  remove: knownFields<EventOf<'remove'>>('a remove event', { type: true, targetId: true }, otherNames),
  truncate: knownFields<EventOf<'truncate'>>('a truncate event', { type: true }),
};
const messageFields = knownFields<Message>(
  'a message',
  { id: true, data: true, metadata: true, createdAt: true, source: true, lifetime: true },
  { role: 'data', content: 'data', pinned: 'metadata' },
);

function refuseUnknown(value: object, known: KnownFields): void {
  const problem = findUnknownField(value, known);
  if (problem !== undefined) throw invalid(problem);
}

const noMetadata: Message['metadata'] = Object.freeze({});

/** Checks a message and returns a frozen copy. */
export function checkMessage(message: unknown): Message {
  if (typeof message !== 'object' || message === null) throw invalid('message is not an object');
  refuseUnknown(message, messageFields);
  const { id, data, metadata, createdAt, source, lifetime } = message as Partial<Record<keyof Message, unknown>>;
  if (!(createdAt instanceof Date) || Number.isNaN(createdAt.getTime())) {
    throw invalid('message.createdAt is not a valid Date');
  }
  return Object.freeze({
    id: checkText(id, 'message.id'),
    data: checkModelMessage(data),
    metadata: metadata === undefined ? noMetadata : frozenCopy(metadata, 'message.metadata'),
    createdAt: new Date(createdAt),
    source: checkSource(source),
    ...(lifetime === undefined ? {} : { lifetime: checkLifetime(lifetime) }),
  });
}

function checkLifetime(lifetime: unknown): MessageLifetime {
  if (lifetime === 'step' || lifetime === 'turn') return lifetime;
  throw invalid(`message.lifetime ${quote(lifetime)} is neither step nor turn`);
}

function checkModelMessage(data: unknown): ModelMessage {
  if (!isPlainObject(data)) throw invalid('message.data is not an object');
  const { role, content } = data;
  if (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool') {
    throw invalid(`message.data.role ${quote(role)} is not one of system, user, assistant, tool`);
  }
  if (role === 'system' && typeof content !== 'string') throw invalid('the content of a system message is not a text');
  if (role === 'tool' && !Array.isArray(content)) throw invalid('the content of a tool message is not an array');
  if (typeof content !== 'string') checkParts(content, role);
  // Safe: role, content and parts were checked above, and the copy is JSON.
  return frozenCopy(data, 'message.data') as unknown as ModelMessage;
}

function checkParts(content: unknown, role: string): void {
  if (!Array.isArray(content)) throw invalid(`the content of the ${role} message is neither a text nor an array`);
  const called = new Set<unknown>();
  for (const part of content as unknown[]) {
    if (!isPlainObject(part) || typeof part.type !== 'string')
      throw invalid(`a part of the ${role} message has no type`);
    if (part.type === 'text' && typeof part.text !== 'string') throw invalid('a text part has no text');
    if (part.type === 'tool-call' || part.type === 'tool-result') {
      if (role === 'user') throw invalid(`a user message cannot have ${part.type} parts`);
      checkText(part.toolCallId, `the toolCallId of a ${part.type} part`);
      checkText(part.toolName, `the toolName of a ${part.type} part`);
    }
    if (part.type === 'tool-result' && !isPlainObject(part.output)) throw invalid('a tool-result part has no output');
    if (role === 'tool' && part.type !== 'tool-result') throw invalid('a tool message can have only tool-result parts');
    if (part.type !== 'tool-call') continue;
    if (called.has(part.toolCallId)) throw invalid(`two tool calls have the id ${quote(part.toolCallId)}`);
    called.add(part.toolCallId);
  }
}

const neededBySource: Record<string, readonly string[]> = {
  user: [],
  system: [],
  assistant: ['stepId'],
  tool: ['toolCallId', 'toolName'],
  extension: ['extensionName'],
};

function checkSource(source: unknown): MessageSource {
  if (!isPlainObject(source)) throw invalid('message.source is not an object');
  const { type } = source;
  const fields = typeof type === 'string' && Object.hasOwn(neededBySource, type) ? neededBySource[type] : undefined;
  if (fields === undefined) {
    throw invalid(`message.source.type ${quote(type)} is not one of ${Object.keys(neededBySource).join(', ')}`);
  }
  for (const field of fields) {
    if (typeof source[field] !== 'string') throw invalid(`message.source.${field} is not a text`);
  }
  // Safe: the type and its required fields were checked above.
  return frozenCopy(source, 'message.source') as unknown as MessageSource;
}

function checkText(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw invalid(`${what} is not a text`);
  return value;
}

/** Quotes a text. For any other value, returns only its type, because some values cannot be converted to a text. */
function quote(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : `(${typeof value})`;
}

function frozenCopy(value: unknown, what: string): ReturnType<typeof copyJsonObject> {
  const refuse = ({ path, problem }: NotJson) => invalid(`${path === '' ? what : `${what}.${path}`} is ${problem}`);
  return copyJsonObject(value, { freeze: true, omitUndefined: true, refuse });
}

function invalid(problem: string): GoondanError {
  return new GoondanError('E_MESSAGE_INVALID', `Not a message event: ${problem}.`);
}
