/** One Message as one JSON text, always the same for the same message: the base is checked by its bytes. */
import type { Message, MessageEvent } from '@goondan/types';

/** A message as JSON has it. */
export type StoredMessage = Omit<Message, 'createdAt'> & { readonly createdAt: string };

/** A MessageEvent as JSON has it. */
export type StoredMessageEvent =
  | { readonly type: 'append'; readonly message: StoredMessage }
  | { readonly type: 'replace'; readonly targetId: string; readonly message: StoredMessage }
  | { readonly type: 'remove'; readonly targetId: string }
  | { readonly type: 'truncate' };

export function encodeMessage({ id, data, metadata, createdAt, source }: Message): string {
  return JSON.stringify({ id, data, metadata, createdAt: createdAt.toISOString(), source });
}

/** `createdAt` is a `Date` again. */
export function reviveMessage(stored: StoredMessage): Message {
  return { ...stored, createdAt: new Date(stored.createdAt) };
}

export function reviveEvent(event: StoredMessageEvent): MessageEvent {
  return 'message' in event ? { ...event, message: reviveMessage(event.message) } : event;
}

/** The bytes must have been checked. */
export function decodeBase(bytes: Uint8Array): Message[] {
  const text = new TextDecoder().decode(bytes);
  // Checked by the commit record's checksum: these are lines encodeMessage wrote.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => reviveMessage(JSON.parse(line) as StoredMessage));
}
