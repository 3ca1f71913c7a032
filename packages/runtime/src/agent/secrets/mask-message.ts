/**
 * Masks secrets in messages. Only content is masked: roles, types, names and ids stay unchanged even if a secret equals
 * one of them. A value without a secret is returned as the same object.
 */
import {
  type AssistantPart,
  digestOfReference,
  type JsonValue,
  type Message,
  type MessageEvent,
  type ModelMessage,
  type UserPart,
} from '@goondan/types';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';

export function maskMessageEvent(event: MessageEvent, mask: Mask): MessageEvent {
  if (!('message' in event)) return event;
  const message = maskMessage(event.message, mask);
  return message === event.message ? event : { ...event, message };
}

export function maskMessage(message: Message, mask: Mask): Message {
  if (mask.isEmpty === true) return message;
  const data = maskModelMessage(message.data, mask);
  // Safe: masking an object returns an object.
  const metadata = maskJson(message.metadata, mask) as Message['metadata'];
  return data === message.data && metadata === message.metadata ? message : { ...message, data, metadata };
}

export function maskModelMessage(message: ModelMessage, mask: Mask): ModelMessage {
  if (mask.isEmpty === true) return message;
  const { content } = message;
  const masked = typeof content === 'string' ? mask(content) : maskParts<Part>(content, mask);
  // Safe: masking does not change the type of a part, so the parts still fit the role.
  return masked === content ? message : ({ ...message, content: masked } as ModelMessage);
}

type Part = UserPart | AssistantPart;

export function maskParts<Kind extends Part>(parts: readonly Kind[], mask: Mask): Kind[] {
  const isMasked = mask.isEmpty !== true && parts.some((part) => maskPart(part, mask) !== part);
  // Safe: the cast only removes `readonly`, and the caller gets its own array back.
  return isMasked ? parts.map((part) => maskPart(part, mask)) : (parts as Kind[]);
}

/** The fields that contain text, for each type of part. */
const fields = {
  text: ['text'],
  reasoning: ['text'],
  image: ['image', 'filename'],
  file: ['data', 'filename'],
  'tool-call': ['input'],
  'tool-result': ['output'],
  custom: [],
} as const satisfies Record<Part['type'], readonly string[]>;

function maskPart<Kind extends Part>(part: Kind, mask: Mask): Kind {
  let masked = part;
  for (const field of fields[part.type]) {
    // Safe: parts are JSON.
    const value = Reflect.get(part, field) as JsonValue | undefined;
    if (value === undefined || isReference(value)) continue;
    const clean = field === 'output' ? maskOutput(value, mask) : maskJson(value, mask);
    if (clean !== value) masked = { ...masked, [field]: clean };
  }
  return masked;
}

/** A reference names bytes. Without all its digits, it would name nothing. */
function isReference(value: JsonValue): boolean {
  return typeof value === 'string' && digestOfReference(value) !== undefined;
}

/** Masks `{ type, value }`, where the value is the tool's output. */
function maskOutput(output: JsonValue, mask: Mask): JsonValue {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output;
  if (maskJson(output, mask) === output) return output;
  const { type, ...said } = output;
  const masked = maskJson(said, mask);
  return masked === said || type === undefined ? output : { type, ...(masked as typeof said) };
}
