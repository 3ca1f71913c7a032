import type { AgentEvent, EventRoot } from '@goondan/types';

/**
 * Returns the event of a Connection that began the work of this event; `undefined` if another client began it. The
 * sender's own data is not used: trace ids, for example, come from outside.
 */
export function rootOf({ id, source, root }: AgentEvent): EventRoot | undefined {
  return source.kind === 'connector' ? { connection: source.name, eventId: id } : root;
}
