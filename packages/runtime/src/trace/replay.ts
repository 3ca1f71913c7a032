/** A replay as the processes speak of it: what one begins with, and what came of it. JSON. */
import type { JsonValue } from '@goondan/types';
import type { Change } from '../json/diff-json.ts';
import type { StoredMessage, StoredMessageEvent } from '../messages/message-text.ts';
import type { EffectKind } from './effect-record.ts';
import type { Recording, RecordedHalt } from './recording.ts';

/** What an agent's process needs to run one turn, or one run of it, again. */
export interface ReplaySource {
  readonly recording: Recording;
  /** The conversation as the turn found it. */
  readonly messages: readonly StoredMessage[];
  /** Of a run that went on with the turn: the turn's message events that counted by then. */
  readonly events: readonly StoredMessageEvent[];
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** What the turn left, of the extensions of which that is known. */
  readonly stateAfter: Readonly<Record<string, JsonValue>>;
  /** When the runtime made the messages of the turn, by id. */
  readonly times: Readonly<Record<string, string>>;
  /** Extensions that are known to do something else: the first divergence of another one counts. */
  readonly ignored: readonly string[];
}

export interface ReplayOutcome {
  /** The first divergence, in the order in which things happened. */
  readonly first?: Divergence;
  /** Layers that did something else after it. What they do may follow from it. */
  readonly others: number;
  /** Runs of layers that were compared. */
  readonly layers: number;
  readonly steps: number;
  /** How many recorded answers were given. */
  readonly served: Readonly<Record<EffectKind, number>>;
  /** Where it ended because the recording has no answer to what was asked there. */
  readonly stoppedAt?: readonly string[];
  /** Where it ended because it had been halted there then. */
  readonly halted?: Halted;
}

export type Halted = Pick<RecordedHalt, 'how' | 'place' | 'layer'> & {
  /** What it was cancelled with. */
  readonly error?: string;
};

export interface Divergence {
  /** From the turn inwards: `step 0`, `toolCall weather__forecast`. */
  readonly place: readonly string[];
  /** Absent when no layer did it, but the agent itself. */
  readonly extension?: string;
  /** The layer's name. Absent of what an extension did outside its layers. */
  readonly layer?: string;
  /** `gone`: a layer that had done something is not there. `hung`: it did not go on. */
  readonly what: 'message' | 'field' | 'result' | 'outcome' | 'gone' | 'asked' | 'not_asked' | 'state' | 'hung';
  /** One sentence, without the name of the layer. */
  readonly message: string;
  /** Before: as it was recorded. After: as it was now. */
  readonly changes: readonly Change[];
}
