/** Messages between processes about a replay, as JSON: its source and its result. */
import type { AgentEvent, JsonValue } from '@goondan/types';
import type { Change } from '../json/diff-json.ts';
import type { Stored, StoredMessage, StoredMessageEvent } from '../messages/message-text.ts';
import type { EffectKind } from './effect-record.ts';
import type { Recording, RecordedHalt } from './recording.ts';

/** Everything that an agent process needs to replay one turn, or one run of it. */
export interface ReplaySource {
  readonly recording: Recording;
  /** The conversation before the turn. */
  readonly messages: readonly StoredMessage[];
  /** For a run that continued the turn: the message events of the turn that were in effect when the run began. */
  readonly events: readonly StoredMessageEvent[];
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** The extension states after the turn, as far as they are known. */
  readonly stateAfter: Readonly<Record<string, JsonValue>>;
  /** The times at which the runtime created the messages of the turn, by message id. */
  readonly times: Readonly<Record<string, string>>;
  /** The inputs of other events that the run took, in order. Absent when there are none. */
  readonly taken?: readonly RecordedTaken[];
  /** Extensions that are known to diverge. The first divergence of any other extension is reported. */
  readonly ignored: readonly string[];
}

/** An input that a run took before a step. */
export interface RecordedTaken {
  readonly seq: number;
  readonly event: Stored<AgentEvent>;
  readonly beforeStep: number;
}

export interface ReplayOutcome {
  /** The first divergence, in the order of the events. */
  readonly first?: Divergence;
  /** The number of layers that diverged after the first divergence, possibly because of it. */
  readonly others: number;
  /** The number of layer runs that were compared. */
  readonly layers: number;
  readonly steps: number;
  /** The number of recorded outcomes that were returned, by kind of effect. */
  readonly served: Readonly<Record<Exclude<EffectKind, 'budget'>, number>> & { readonly budget?: number };
  /** The place where the replay ended because the recording has no outcome for a call. */
  readonly stoppedAt?: readonly string[];
  /** The place where the replay ended because the recorded run was halted there. */
  readonly halted?: Pick<RecordedHalt, 'how' | 'place' | 'layer'> & {
    /** The reason of the cancel. */
    readonly error?: string;
  };
}

export interface Divergence {
  /** The path of chains from the turn inwards: `step 0`, `toolCall weather__forecast`. */
  readonly place: readonly string[];
  /** The extension that diverged; absent when the agent itself diverged. */
  readonly extension?: string;
  /** The layer's name; absent for an extension's code outside its layers. */
  readonly layer?: string;
  /** `gone`: a layer that had an effect in the recording no longer exists. `hung`: the replay did not continue. */
  readonly what: 'message' | 'field' | 'result' | 'outcome' | 'gone' | 'asked' | 'not_asked' | 'state' | 'hung';
  /** One sentence, without the name of the layer. */
  readonly message: string;
  /** `before`: the recorded value. `after`: the value in the replay. */
  readonly changes: readonly Change[];
}
