/**
 * Every message event from outside enters the conversation here: it is checked once, copied and frozen. The rest of the
 * runtime does not check it again.
 */
import {
  GoondanError,
  isDefaultSource,
  type Message,
  type MessageEvent,
  type MessageLifetime,
  type MessageSource,
  type ModelMessage,
} from '@goondan/types';
import { findUnknownField, type KnownFields, knownFields } from '../../config/find-unknown-field.ts';
import { copyJsonObject, isPlainObject, type NotJson } from '../../json/copy-json.ts';
import { problemWithModelMessage, quote } from './model-message-problem.ts';

/**
 * Returns the event with a frozen copy of its message. `extension`: the extension that emits the event, which is the source
 * of a message without another. Throws `E_MESSAGE_INVALID`; the text of the error names the problem.
 */
export function checkMessageEvent(event: unknown, extension?: string): MessageEvent {
  if (!isPlainObject(event)) throw invalid('the event is not an object');
  switch (event.type) {
    case 'append':
      refuseUnknown(event, eventFields.append);
      return Object.freeze({ type: 'append', message: checkMessage(event.message, extension) });
    case 'replace':
      refuseUnknown(event, eventFields.replace);
      return Object.freeze({
        type: 'replace',
        targetId: checkText(event.targetId, 'targetId'),
        message: checkMessage(event.message, extension),
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

/** Checks a message and returns a frozen copy. `extension`: the extension that emits the message. */
export function checkMessage(message: unknown, extension?: string): Message {
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
    source: checkSource(source, extension),
    ...(lifetime === undefined ? {} : { lifetime: checkLifetime(lifetime) }),
  });
}

function checkLifetime(lifetime: unknown): MessageLifetime {
  if (lifetime === 'step' || lifetime === 'turn') return lifetime;
  throw invalid(`message.lifetime ${quote(lifetime)} is neither step nor turn`);
}

function checkModelMessage(data: unknown): ModelMessage {
  const problem = problemWithModelMessage(data, 'message.data');
  if (problem !== undefined) throw invalid(problem);
  // Safe: role, content and parts were checked above, and the copy is JSON.
  return frozenCopy(data, 'message.data') as unknown as ModelMessage;
}

const neededBySource: Record<string, readonly string[]> = {
  user: [],
  system: [],
  assistant: ['stepId'],
  tool: ['toolCallId', 'toolName'],
  extension: ['extensionName'],
};

function checkSource(source: unknown, extension: string | undefined): MessageSource {
  if (extension !== undefined && (source === undefined || isDefaultSource(source))) {
    return Object.freeze({ type: 'extension', extensionName: extension });
  }
  const problem = problemWithSource(source, 'message.source');
  if (problem !== undefined) throw invalid(problem);
  // Safe: the type and its required fields were checked above.
  return frozenCopy(source, 'message.source') as unknown as MessageSource;
}

/** Returns the reason why a value is not the source of a message, or `undefined`. `what` names the value. */
export function problemWithSource(source: unknown, what: string): string | undefined {
  if (!isPlainObject(source)) return `${what} is not an object`;
  const { type } = source;
  const fields = typeof type === 'string' && Object.hasOwn(neededBySource, type) ? neededBySource[type] : undefined;
  if (fields === undefined) {
    return `${what}.type ${quote(type)} is not one of ${Object.keys(neededBySource).join(', ')}`;
  }
  const missing = fields.find((field) => typeof source[field] !== 'string');
  return missing && `${what}.${missing} is not a text`;
}

function checkText(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw invalid(`${what} is not a text`);
  return value;
}

function frozenCopy(value: unknown, what: string): ReturnType<typeof copyJsonObject> {
  const refuse = ({ path, problem }: NotJson) => invalid(`${path === '' ? what : `${what}.${path}`} is ${problem}`);
  return copyJsonObject(value, { freeze: true, omitUndefined: true, refuse });
}

function invalid(problem: string): GoondanError {
  return new GoondanError('E_MESSAGE_INVALID', `Not a message event: ${problem}.`);
}
