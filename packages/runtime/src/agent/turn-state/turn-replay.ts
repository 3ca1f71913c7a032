/** The interface between the turn loop and a replay, which returns recorded outcomes. */
import type { JsonValue } from '@goondan/types';
import type { TurnInput } from '../conversation/conversation-store.ts';
import type { TurnLog } from '../conversation/turn-log.ts';
import type { WatchedEffect } from '../../trace/layer-span.ts';

export interface TurnReplay {
  readonly startedAt: Date;
  /** The log that the recorded run started with, if it was a resumed run. */
  readonly before?: TurnLog | undefined;
  /**
   * Returns the recorded time of a message that the runtime created; undefined when the recording has no such message.
   */
  timeOf(messageId: string): Date | undefined;
  /** Returns true if the recorded model call under this key had a schema, and not the tool `output__finish`. */
  tookSchema(key: string): boolean;
  /** Returns the inputs that the recorded run took before this step, in order. */
  takenBefore(stepIndex: number): readonly TurnInput[];
  /**
   * Returns the recorded outcome of the effect, or throws the recorded error. If no outcome is recorded, the promise
   * never settles, and the replay ends the turn there.
   */
  serve(effect: Omit<WatchedEffect, 'outcome'>): Promise<JsonValue>;
}
