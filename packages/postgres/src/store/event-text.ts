import type { AgentEvent } from '@goondan/types';

/** Makes the text of an event. Everything in an event is JSON, except for its date. */
export function encodeEvent(event: AgentEvent): string {
  return JSON.stringify(event);
}

export function decodeEvent(text: string): AgentEvent {
  // Safe: only encodeEvent writes these texts. Dates are strings in JSON.
  const event = JSON.parse(text) as Omit<AgentEvent, 'createdAt'> & { readonly createdAt: string };
  return { ...event, createdAt: new Date(event.createdAt) };
}
