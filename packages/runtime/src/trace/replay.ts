/** Messages about a replay between processes: its source and its result. JSON. */
import type { JsonValue } from '@goondan/types';
import type { Change } from '../json/diff-json.ts';
import type { StoredMessage, StoredMessageEvent } from '../messages/message-text.ts';
import type { EffectKind } from './effect-record.ts';
import type { Recording, RecordedHalt } from './recording.ts';

/** Everything that an agent process needs to replay one turn, or one run of it. */
export interface ReplaySource {
  readonly recording: Recording;
  /** The conversation before the turn. */
  readonly messages: readonly StoredMessage[];
  /** For a run that continued the turn: the turn's message events that counted at that time. */
  readonly events: readonly StoredMessageEvent[];
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** The states after the turn, for extensions whose state is known. */
  readonly stateAfter: Readonly<Record<string, JsonValue>>;
  /** The times at which the runtime made the messages of the turn, by id. */
  readonly times: Readonly<Record<string, string>>;
  /** Extensions that are known to diverge; the first divergence of another one counts. */
  readonly ignored: readonly string[];
}

export interface ReplayOutcome {
  /** The first divergence, in the order of the events. */
  readonly first?: Divergence;
  /** The number of layers that diverged after it, possibly because of it. */
  readonly others: number;
  /** The number of compared runs of layers. */
  readonly layers: number;
  readonly steps: number;
  /** The number of recorded answers that were given. */
  readonly served: Readonly<Record<EffectKind, number>>;
  /** The place where it ended, because the recording has no answer to a call there. */
  readonly stoppedAt?: readonly string[];
  /** The place where it ended, because the recorded run was halted there. */
  readonly halted?: Halted;
}

export type Halted = Pick<RecordedHalt, 'how' | 'place' | 'layer'> & {
  /** The reason of the cancel. */
  readonly error?: string;
};

export interface Divergence {
  /** The chains from the turn inwards: `step 0`, `toolCall weather__forecast`. */
  readonly place: readonly string[];
  /** Absent when the agent itself diverged, not a layer. */
  readonly extension?: string;
  /** The layer's name. Absent for code of an extension outside its layers. */
  readonly layer?: string;
  /** `gone`: a recorded layer that had an effect does not exist now. `hung`: it did not continue. */
  readonly what: 'message' | 'field' | 'result' | 'outcome' | 'gone' | 'asked' | 'not_asked' | 'state' | 'hung';
  /** One sentence, without the name of the layer. */
  readonly message: string;
  /** `before` is the recorded value, `after` the one of the replay. */
  readonly changes: readonly Change[];
}
