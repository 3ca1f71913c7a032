/** The room in the inbox of one instance. */
import { GoondanError } from '@goondan/types';
import type { UsedInbox } from './used-inboxes.ts';

/** Returns true if an event of this many bytes does not fit. */
export function isFull({ inbox, pending, stored: { limits } }: UsedInbox, bytes: number): boolean {
  const { bytes: kept, queuedBytes } = inbox;
  return pending.size >= limits.inboxEvents || kept + queuedBytes + bytes > limits.inboxBytes;
}

export function fullInbox({ inbox: { address, bytes }, pending }: UsedInbox): GoondanError {
  const whose = `agent ${address.agentName}, instance ${JSON.stringify(address.instanceKey)}`;
  const message = `The inbox of ${whose} is full: ${pending.size} events waiting, ${bytes} bytes`;
  return new GoondanError('E_INBOX_FULL', message, { retryable: true });
}
