/** The interface of a replay for the turn loop: it serves the recording of a turn. */
import type { JsonValue } from '@goondan/types';
import type { TurnLog } from '../conversation/turn-log.ts';
import type { WatchedEffect } from '../../trace/layer-span.ts';

export interface TurnReplay {
  readonly startedAt: Date;
  /** The log with which the recorded run started, when it was a resumed run. */
  readonly before?: TurnLog | undefined;
  /** The recorded time of a message that the runtime made; undefined when the recording has no such message. */
  timeOf(messageId: string): Date | undefined;
  /**
   * Returns the recorded outcome of the effect, or throws the recorded error. An effect without a recorded outcome
   * never settles: the replay notes it and ends the turn there.
   */
  serve(effect: Omit<WatchedEffect, 'outcome'>): Promise<JsonValue>;
}
