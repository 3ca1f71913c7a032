import type { AgentEvent } from '@goondan/types';

/** The same event is the same turn, also after a crash. */
export function turnIdOf(event: AgentEvent): string {
  return `turn-${event.id}`;
}
