/** Events whose turns crashed the agent process repeatedly; kept for a person to inspect, retry or drop. */
import type { AgentEvent, JsonValue } from '@goondan/types';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { Stored } from '../../messages/message-text.ts';
import { retryIdOf } from '../../ports/ids.ts';
import type { QueueEntry } from '../lines/durable-queue.ts';

export interface DeadLetter {
  readonly event: AgentEvent;
  readonly crashes: number;
  readonly deadAt: Date;
  readonly reason: string;
}

/** Returns how often the turn of this log was resumed after a crash. */
export function countCrashes(log: readonly TurnRecord[]): number {
  return log.filter((record) => record.type === 'resumed' && record.isExcused !== true).length;
}

/** Makes the event for a retry. It gets a new id, because the old id counts as handled. */
export function retryOf({ event }: DeadLetter): AgentEvent {
  // It may have crashed the turn that took it, so the retry has a turn of its own.
  const { delivery: _, ...rest } = event;
  return { ...rest, id: retryIdOf(event.id) };
}

export function encodeLetter(letter: DeadLetter): JsonValue {
  // Safe: events are JSON except for their dates, which become strings here.
  return JSON.parse(JSON.stringify(letter)) as JsonValue;
}

export function decodeLetter({ value }: QueueEntry): DeadLetter {
  // Safe: the checksum was verified, and encodeLetter made the value.
  const { event, deadAt, ...rest } = value as unknown as Omit<DeadLetter, 'event' | 'deadAt'> & {
    readonly deadAt: string;
    readonly event: Stored<AgentEvent>;
  };
  return { ...rest, deadAt: new Date(deadAt), event: { ...event, createdAt: new Date(event.createdAt) } };
}
