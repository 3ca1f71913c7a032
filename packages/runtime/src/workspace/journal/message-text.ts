/** One Message as one JSON text, always the same for the same message: the base is checked by its bytes. */
import type { Message } from '@goondan/types';

/** A message as JSON has it. */
export type StoredMessage = Omit<Message, 'createdAt'> & { readonly createdAt: string };

export function encodeMessage({ id, data, metadata, createdAt, source }: Message): string {
  return JSON.stringify({ id, data, metadata, createdAt: createdAt.toISOString(), source });
}

/** `createdAt` is a `Date` again. */
export function reviveMessage(stored: StoredMessage): Message {
  return { ...stored, createdAt: new Date(stored.createdAt) };
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
