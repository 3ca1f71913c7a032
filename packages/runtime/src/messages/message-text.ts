/**
 * Encodes a message as JSON text. Equal messages must have equal texts, because a checksum over the bytes verifies the
 * base.
 */
import type { Message, MessageEvent } from '@goondan/types';

/** A message or an event as JSON, in which `createdAt` is a text. */
export type Stored<Dated extends { readonly createdAt: Date }> = Omit<Dated, 'createdAt'> & {
  readonly createdAt: string;
};

export type StoredMessage = Stored<Message>;

/** A `MessageEvent` as JSON. */
export type StoredMessageEvent =
  | { readonly type: 'append'; readonly message: StoredMessage }
  | { readonly type: 'replace'; readonly targetId: string; readonly message: StoredMessage }
  | { readonly type: 'remove'; readonly targetId: string }
  | { readonly type: 'truncate' };

export function encodeMessage({ id, data, metadata, createdAt, source, lifetime }: Message): string {
  const rest = JSON.stringify({ metadata, createdAt: createdAt.toISOString(), source, lifetime });
  return `{"id":${JSON.stringify(id)},"data":${encodeData(data)},${rest.slice(1)}`;
}

/**
 * Makes the JSON text of the data of a message, as `JSON.stringify` does. The lists of a message are frozen, and
 * `JSON.stringify` takes several times as long for everything around a frozen list.
 */
export function encodeData(data: Message['data']): string {
  let text = '';
  for (const name of Object.keys(data)) {
    const field = encodeField(data, name);
    if (field !== '') text += text === '' ? field : `,${field}`;
  }
  return `{${text}}`;
}

/** Makes the text of a field, with its name; empty when the field has no value in JSON. */
function encodeField(data: Message['data'], name: string): string {
  if (name === 'role') return `"role":${JSON.stringify(data.role)}`;
  if (name === 'content') return `"content":${encodeValue(data.content)}`;
  // Safe: the name is one of the data.
  const encoded = encodeValue(data[name as keyof Message['data']]);
  return encoded === undefined ? '' : `${JSON.stringify(name)}:${encoded}`;
}

/** Makes the JSON text of a value, which may be a frozen list. */
export function encodeValue(value: object | string): string;
export function encodeValue(value: unknown): string | undefined;
export function encodeValue(value: unknown): string | undefined {
  if (!Array.isArray(value)) return JSON.stringify(value);
  let text = '';
  for (let index = 0; index < value.length; index++) {
    if (index > 0) text += ',';
    text += JSON.stringify(value[index]) ?? 'null';
  }
  return `[${text}]`;
}

/** Converts `createdAt` back to a `Date`. */
export function reviveMessage(stored: StoredMessage): Message {
  return { ...stored, createdAt: new Date(stored.createdAt) };
}

export function reviveEvent(event: StoredMessageEvent): MessageEvent {
  return 'message' in event ? { ...event, message: reviveMessage(event.message) } : event;
}

/** Decodes the base, whose bytes must have been verified. */
/** Makes the lines of a base. */
export function encodeBase(messages: readonly Message[]): string {
  return messages.map((message) => `${encodeMessage(message)}\n`).join('');
}

export function decodeBase(bytes: Uint8Array): Message[] {
  const text = new TextDecoder().decode(bytes);
  // Safe: the commit record's checksum proves that encodeMessage wrote these lines.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => reviveMessage(JSON.parse(line) as StoredMessage));
}
