/**
 * Masks secrets in messages. Only content is masked: roles, types, names and ids stay unchanged even if a secret equals
 * one of them. A value without a secret is returned as the same object.
 */
import type { AssistantPart, JsonValue, Message, MessageEvent, ModelMessage, UserPart } from '@goondan/types';
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

/** The field that contains the text, for each type of part. */
const fields = {
  text: 'text',
  reasoning: 'text',
  image: 'image',
  file: 'data',
  'tool-call': 'input',
  'tool-result': 'output',
  custom: undefined,
} as const satisfies Record<Part['type'], string | undefined>;

function maskPart<Kind extends Part>(part: Kind, mask: Mask): Kind {
  const field = fields[part.type];
  if (field === undefined) return part;
  // Safe: parts are JSON, and each has the field of its type.
  const value = Reflect.get(part, field) as JsonValue;
  const masked = field === 'output' ? maskOutput(value, mask) : maskJson(value, mask);
  return masked === value ? part : { ...part, [field]: masked };
}

/** Masks `{ type, value }`, where the value is the tool's output. */
function maskOutput(output: JsonValue, mask: Mask): JsonValue {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output;
  if (maskJson(output, mask) === output) return output;
  const { type, ...said } = output;
  const masked = maskJson(said, mask);
  return masked === said || type === undefined ? output : { type, ...(masked as typeof said) };
}
