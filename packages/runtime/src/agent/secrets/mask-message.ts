/**
 * Messages without secrets. Only what somebody wrote is looked at: roles, types, names and ids are ours, and stay what
 * they are also when a secret happens to be the same word. What holds no secret comes back as it is, not as a copy.
 */
import type { AssistantPart, JsonValue, Message, MessageEvent, ModelMessage, UserPart } from '@goondan/types';
import { type Mask, maskJson, noSecrets } from '../../log/mask-secrets.ts';

export function maskMessageEvent(event: MessageEvent, mask: Mask): MessageEvent {
  if (!('message' in event)) return event;
  const message = maskMessage(event.message, mask);
  return message === event.message ? event : { ...event, message };
}

export function maskMessage(message: Message, mask: Mask): Message {
  if (mask === noSecrets) return message;
  const data = maskModelMessage(message.data, mask);
  // An object with every text in it masked is an object.
  const metadata = maskJson(message.metadata, mask) as Message['metadata'];
  return data === message.data && metadata === message.metadata ? message : { ...message, data, metadata };
}

export function maskModelMessage(message: ModelMessage, mask: Mask): ModelMessage {
  if (mask === noSecrets) return message;
  const { content } = message;
  const masked = typeof content === 'string' ? mask(content) : maskParts<Part>(content, mask);
  // Each part is of the type it was, so what belongs to the role still does.
  return masked === content ? message : ({ ...message, content: masked } as ModelMessage);
}

type Part = UserPart | AssistantPart;

export function maskParts<Kind extends Part>(parts: readonly Kind[], mask: Mask): Kind[] {
  const masked = parts.map((part) => maskPart(part, mask));
  // Nobody changes it: what is given back is what came in.
  return masked.some((part, index) => part !== parts[index]) ? masked : (parts as Kind[]);
}

/** What somebody wrote in a part. */
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
  // Parts are JSON, and have the field that their type says.
  const value = Reflect.get(part, field) as JsonValue;
  const masked = field === 'output' ? maskOutput(value, mask) : maskJson(value, mask);
  return masked === value ? part : { ...part, [field]: masked };
}

/** `{ type, value }`, of which the value is what the tool said. */
function maskOutput(output: JsonValue, mask: Mask): JsonValue {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output;
  const { type, ...said } = output;
  const masked = maskJson(said, mask);
  return masked === said || type === undefined ? output : { type, ...(masked as typeof said) };
}
