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
  for (const [name, value] of Object.entries(data) as [string, unknown][]) {
    const encoded = Array.isArray(value) ? encodeList(value) : JSON.stringify(value);
    if (encoded !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${encoded}`;
  }
  return `{${text}}`;
}

function encodeList(items: readonly unknown[]): string {
  return `[${items.map((item) => JSON.stringify(item) ?? 'null').join(',')}]`;
}

/** Converts `createdAt` back to a `Date`. */
export function reviveMessage(stored: StoredMessage): Message {
  return { ...stored, createdAt: new Date(stored.createdAt) };
}

export function reviveEvent(event: StoredMessageEvent): MessageEvent {
  return 'message' in event ? { ...event, message: reviveMessage(event.message) } : event;
}

/** Decodes the base, whose bytes must have been verified. */
export function decodeBase(bytes: Uint8Array): Message[] {
  const text = new TextDecoder().decode(bytes);
  // Safe: the commit record's checksum proves that encodeMessage wrote these lines.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => reviveMessage(JSON.parse(line) as StoredMessage));
}
