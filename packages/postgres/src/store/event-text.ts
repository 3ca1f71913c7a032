import type { AgentAddress, AgentEvent } from '@goondan/types';
import { damagedRows } from './damaged-rows.ts';

/** Makes the text of an event. Everything in an event is JSON, except for its date. */
export function encodeEvent(event: AgentEvent): string {
  return JSON.stringify(event);
}

/** Reads the event of a row. **Errors** — `E_STORE_CORRUPT` for a text that `encodeEvent` has not written. */
export function decodeEvent(instance: AgentAddress, seq: number, text: string | null): AgentEvent {
  // Safe after the check of the id: only encodeEvent writes objects with one. Dates are strings in JSON.
  const event = parsed(text) as (Omit<AgentEvent, 'createdAt'> & { readonly createdAt: string }) | null | undefined;
  if (typeof event?.id !== 'string') throw damagedRows(instance, 'gdn_inbox', `the event with seq ${seq} is not JSON`);
  return { ...event, createdAt: new Date(event.createdAt) };
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
