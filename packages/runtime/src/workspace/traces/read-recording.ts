/**
 * Reads everything that a replay of a turn needs: its recording, the conversation and extension states before it, and
 * its results. Takes no lock and changes nothing, so it also works while the swarm runs.
 */
import type { StoredMessageEvent } from '../../messages/message-text.ts';
import { GoondanError, type JsonValue, type MessageEvent } from '@goondan/types';
import { shortTurnId } from '../../ports/turn-ids.ts';
import { assembleRecording, type RecordedRun } from '../../trace/assemble-recording.ts';
import type { TurnSummary } from '../../trace/turn-trace.ts';
import type { TakenInput } from '../../agent/conversation/conversation-store.ts';
import type { ArchivedTurn } from '../archive/read-archive.ts';
import { HistoryFold } from '../history/history-fold.ts';
import type { ConversationAt } from '../history/read-conversation-at.ts';
import type { HistorySource } from '../history/read-history.ts';
import type { StorePlace } from '../layout/instance-paths.ts';
import type { StoredTaken } from '../records/logged-record.ts';
import { findTurn } from './find-turn.ts';
import { traceFiles, type TraceSource } from './trace-source.ts';

/** A recorded turn, with the conversation and the extension states before it. */
export interface KeptRecording extends Omit<ConversationAt, 'seq'> {
  readonly turn: TurnSummary;
  /** The runs of the turn in order. The last run produced the result, and is the one that can be replayed. */
  readonly runs: readonly KeptRun[];
  /** The extension states after the turn, as far as they are known. */
  readonly stateAfter: Readonly<Record<string, JsonValue>>;
}

/** A turn as executed by one process. A turn that was resumed has several runs. */
export interface KeptRun extends RecordedRun {
  /** The message events of the turn that already counted when the run began. */
  readonly events: readonly StoredMessageEvent[];
  /** The creation times of the turn's messages that existed at the end of this run, by message id. */
  readonly times: Readonly<Record<string, string>>;
  /** The inputs of other events that the turn took in this run, in order. */
  readonly taken: readonly StoredTaken[];
}

/**
 * Reads a recording. `id` has the same meaning as in `readTurnTrace`. For a trace id, reads the last turn of the trace
 * that was not requested by another agent. Without an id, reads the latest such turn.
 *
 * **Errors** — `E_TRACE_UNKNOWN`, `E_TRACE_AMBIGUOUS`, `E_REPLAY_UNFINISHED`, `E_REPLAY_INCOMPLETE`, those of reading.
 */
export function readRecording(place: StorePlace, history: HistorySource, id?: string): Promise<KeptRecording> {
  return readRecordingOf(traceFiles(place), history, id);
}

/** Like `readRecording`, for traces that are kept anywhere. */
export async function readRecordingOf(
  source: TraceSource,
  history: HistorySource,
  id?: string,
): Promise<KeptRecording> {
  const { recorded, turn } = await findTurn(source, id);
  const read = assembleRecording(await recorded.lines());
  if ('problem' in read) throw unusable(turn.turnId, read.problem, read.isUnfinished === true);
  const { archived, ...around } = await readAround(history, turn);
  const runs = [...read.earlier, read.last];
  return { turn, ...around, runs: runs.map((run, index) => keptRun(run, runs[index + 1], archived)) };
}

async function readAround(
  history: HistorySource,
  turn: TurnSummary,
): Promise<Omit<KeptRecording, 'turn' | 'runs'> & { readonly archived: ArchivedTurn }> {
  const { start, turns } = await history.history(turn);
  const fold = new HistoryFold(start);
  for await (const archived of turns) {
    if (archived.turnId !== turn.turnId) {
      fold.apply(archived);
      continue;
    }
    const messages = fold.messages();
    const { known, unknown: unknownStates } = fold.states();
    fold.apply(archived);
    return { messages, extensionState: known, unknownStates, stateAfter: fold.states().known, archived };
  }
  throw unusable(turn.turnId, 'the conversation before it is no longer kept', false);
}

function keptRun(run: RecordedRun, after: RecordedRun | undefined, { events }: ArchivedTurn): KeptRun {
  const all = events.filter(({ counts }) => counts);
  const before = run.recording?.resumePoint?.events ?? 0;
  const counted = all.slice(0, before);
  const end = after === undefined ? Number.POSITIVE_INFINITY : Date.parse(after.startedAt);
  // A later run creates a message again with the same id, so only messages created by the end of this run are used.
  const made = events.flatMap(({ event, at }) => (at.getTime() <= end && 'message' in event ? [event.message] : []));
  const times = Object.fromEntries(made.map(({ id, createdAt }) => [id, createdAt.toISOString()]));
  const taken = all.slice(before).flatMap(({ took, at }) => (took && at.getTime() <= end ? [storedTaken(took)] : []));
  return { ...run, events: counted.map(({ event }) => storedEvent(event)), times, taken };
}

function storedTaken({ event, ...taken }: TakenInput): StoredTaken {
  return { ...taken, event: { ...event, createdAt: event.createdAt.toISOString() } };
}

function storedEvent(event: MessageEvent): StoredMessageEvent {
  if (!('message' in event)) return event;
  const { createdAt, ...message } = event.message;
  return { ...event, message: { ...message, createdAt: createdAt.toISOString() } };
}

function unusable(turnId: string, problem: string, isUnfinished: boolean): GoondanError {
  const code = isUnfinished ? 'E_REPLAY_UNFINISHED' : 'E_REPLAY_INCOMPLETE';
  return new GoondanError(code, `Turn ${shortTurnId(turnId)} cannot be replayed: ${problem}.`);
}
