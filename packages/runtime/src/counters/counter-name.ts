/** Names of counters. A name says whose calls it counts, so that the counters of a turn or a conversation can be removed. */
import type { AgentAddress } from '@goondan/types';

/** Whose calls a counter counts. */
export type CounterScope = 'turn' | 'conversation' | 'agent' | 'swarm';

/** The place of a call. */
export interface CounterPlace extends AgentAddress {
  readonly turnId: string;
}

/** Returns the whole name of a counter: JSON in one line, without control characters. */
export function nameCounter(
  scope: CounterScope,
  name: string,
  { agentName, instanceKey, turnId }: CounterPlace,
): string {
  switch (scope) {
    case 'turn':
      return JSON.stringify([scope, agentName, instanceKey, turnId, name]);
    case 'conversation':
      return JSON.stringify([scope, agentName, instanceKey, name]);
    case 'agent':
      return JSON.stringify([scope, agentName, name]);
    case 'swarm':
      return JSON.stringify([scope, name]);
  }
}

/** Returns the beginnings of the names of all counters of a turn; without a turn, of a conversation and its turns. */
export function namesBeginWith({ agentName, instanceKey }: AgentAddress, turnId?: string): readonly string[] {
  const beginning = (...parts: readonly string[]) => `${JSON.stringify(parts).slice(0, -1)},`;
  if (turnId !== undefined) return [beginning('turn', agentName, instanceKey, turnId)];
  return [beginning('turn', agentName, instanceKey), beginning('conversation', agentName, instanceKey)];
}
