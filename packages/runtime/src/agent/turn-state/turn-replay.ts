/** A turn that is run again from what was recorded of it, as the turn loop sees that. */
import type { JsonValue } from '@goondan/types';
import type { TurnLog } from '../conversation/turn-log.ts';
import type { EffectKind } from '../../trace/effect-record.ts';

export interface AskedEffect {
  readonly key: string;
  readonly kind: EffectKind;
  /** What is asked for: the thing itself. */
  readonly asked: unknown;
}

export interface TurnReplay {
  readonly startedAt: Date;
  /** Of a run that went on with what another process had begun: what it found of the turn. */
  readonly before?: TurnLog | undefined;
  /** When the runtime made this message. Undefined: it had not made it. */
  timeOf(messageId: string): Date | undefined;
  /**
   * How the effect ended then, thrown again if it was thrown. What the recording has no answer for never settles:
   * whoever replays the turn is told, and ends it there.
   */
  serve(effect: AskedEffect): Promise<JsonValue>;
}
