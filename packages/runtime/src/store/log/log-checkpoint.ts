/**
 * The checkpoint of a log that is kept elsewhere, as JSON text: the state of `metadata.json`, without places in files.
 * States of extensions are in it, and so are the results of the last turns, because the frames before the checkpoint are
 * in the archive, which the owner does not read.
 */
import type { AgentAddress, JsonValue } from '@goondan/types';
import type { FinishedUsage } from '../../agent/conversation/conversation-store.ts';
import type { FinishedTurn, FinishedTurns } from '../../workspace/records/finished-turns.ts';
import { LogState } from '../../workspace/records/log-state.ts';
import { type Checkpoint, firstCheckpoint } from '../../workspace/records/metadata.ts';
import { reviveResult, type WholeResult } from '../../workspace/records/reply.ts';
import { corruptLine } from './name-instance.ts';

/** The fields of a checkpoint that do not depend on files. */
type SharedFields = Omit<
  Checkpoint,
  'closedBy' | 'segment' | 'offset' | 'base' | 'extensions' | 'answers' | 'answersRemoved' | 'spent'
>;

interface LogCheckpoint extends SharedFields {
  readonly createdAt: string;
  readonly states: Readonly<Record<string, JsonValue>>;
  /** Results of the last turns, oldest first. */
  readonly finished: readonly (readonly [turnId: string, result: WholeResult, usage?: FinishedUsage])[];
}

/** The results in a checkpoint. A repeated delivery asks for one of the last turns. */
const MOST_RESULTS = 16;
const MOST_RESULT_BYTES = 64 * 1024;

export interface CheckpointedState {
  readonly createdAt: string;
  readonly state: LogState;
  /** The states by extension name: JSON texts. */
  readonly texts: ReadonlyMap<string, string>;
  readonly finished: Pick<FinishedTurns, 'newest'>;
}

export function encodeCheckpoint({ createdAt, state, texts, finished }: CheckpointedState): string {
  const { seq, version, status, updatedAt, messages, inbox, statesAlone, letterEntries: letters } = state;
  const taken = state.taken.length === 0 ? {} : { taken: state.taken };
  const shared: SharedFields = { seq, version, status, updatedAt, messages, inbox, ...taken, statesAlone, letters };
  const results = finished.newest(MOST_RESULTS, MOST_RESULT_BYTES);
  const head = JSON.stringify({ createdAt, ...shared, finished: results });
  // The texts are JSON already, and may be long.
  const states = Array.from(texts, ([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `${head.slice(0, -1)},"states":{${states.join(',')}}}`;
}

/** A checkpoint as the state that frames are applied to. */
export interface ReadCheckpoint {
  readonly createdAt: string;
  readonly state: LogState;
  readonly finished: readonly FinishedTurn[];
}

/** Reads the text of a checkpoint. **Errors** — `E_STORE_CORRUPT`. */
export function decodeCheckpoint(instance: AgentAddress, text: string): ReadCheckpoint {
  const { createdAt, states, finished, ...shared } = parse(instance, text);
  const state = newState({ ...firstCheckpoint(0, createdAt), ...shared });
  for (const [name, value] of Object.entries(states)) state.states.set(name, JSON.stringify(value));
  return {
    createdAt,
    state,
    finished: finished.map(([turnId, result, ...usage]) => [turnId, reviveResult(result), ...usage]),
  };
}

/** Returns the state of a log that has only its first frame, or has none and keeps number 1 for it. */
export function firstState(createdAt: string): LogState {
  return newState(firstCheckpoint(0, createdAt));
}

/** The answers are kept beside the log. */
function newState(checkpoint: Checkpoint): LogState {
  return new LogState(checkpoint, false);
}

function parse(instance: AgentAddress, text: string): LogCheckpoint {
  try {
    // Safe: encodeCheckpoint made the text, which a store keeps unchanged.
    return JSON.parse(text) as LogCheckpoint;
  } catch {
    throw corruptLine(instance, 'its checkpoint is not JSON');
  }
}
