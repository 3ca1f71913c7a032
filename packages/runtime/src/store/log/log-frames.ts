/** Makes the frames of a log that is kept elsewhere: the line of each, and the facts that a store keeps beside it. */
import type { AgentAddress } from '@goondan/types';
import type { AskedTurn, NewFrame } from '../../workspace/journal/instance-place.ts';
import { type ForkedConversation, planForkCommit } from '../../workspace/journal/plan-fork.ts';
import { type CommitEntry, frameLine } from '../../workspace/records/frame.ts';
import { inputAfter, type LogState, replyUsage, resultOf } from '../../workspace/records/log-state.ts';
import type { FrameCommit, LogFrame, StoredAnswer } from '../conversation-log.ts';
import { callerOf } from './caller-of.ts';
import { firstState } from './log-checkpoint.ts';

/** The first frame of a log, with the identity of the instance. It has number 1, as in files. */
export function headFrame({ agentName, instanceKey }: AgentAddress, createdAt: string): LogFrame {
  const at = Date.parse(createdAt);
  const head = { agentName, instanceKey, createdAt };
  return { seq: 1, last: 1, line: frameLine({ seq: 1, durable: 0, at, head }), isDurable: false };
}

export interface FrameInput {
  readonly frame: NewFrame;
  readonly records: readonly string[];
  readonly isDurable: boolean;
  readonly asked?: AskedTurn | undefined;
}

/** Makes the next frame. `state`: the state before the frame. `durable`: everything up to this number is durable. */
export function nextFrame(
  state: LogState,
  durable: number,
  { frame, records, isDurable, asked }: FrameInput,
): LogFrame {
  const { input, commit } = frame;
  const seq = state.seq + 1;
  return {
    seq,
    last: seq + records.length + (commit ? 1 : 0) - 1,
    line: frameLine({ ...frame, seq, durable }, records),
    isDurable,
    ...(input !== undefined && { begins: input }),
    ...(commit && { commit: factsOf(state, frame, commit, asked) }),
  };
}

function factsOf(state: LogState, { turn, at }: NewFrame, commit: CommitEntry, asked?: AskedTurn): FrameCommit {
  const answer = turn !== undefined && asked && answerOf(state, { turn, at, commit }, asked);
  return {
    version: commit.version ?? state.version,
    messages: commit.messages ?? state.messages,
    deadLetters: countLetters(state, commit),
    updatedAt: turn === undefined ? state.updatedAt : at,
    ...handledBy(state, commit),
    ...(commit.spent && { spent: commit.spent }),
    ...(answer && { answer }),
  };
}

function handledBy({ inbox, taken: before }: LogState, commit: CommitEntry): Pick<FrameCommit, 'handled' | 'taken'> {
  const after = inputAfter({ inbox: commit.inbox ?? inbox, taken: before }, commit.taken ?? []);
  const taken = (commit.taken ?? []).flatMap(([seq]) => (seq > after.inbox ? [seq] : []));
  return { handled: after.inbox, ...(taken.length > 0 && { taken }) };
}

function countLetters({ letters }: LogState, commit: CommitEntry): number {
  const { letter, lettersOfTaken = [], lettersRemoved = [] } = commit;
  const added = (letter === undefined ? 0 : 1) + lettersOfTaken.length;
  return letters.size - lettersRemoved.filter((id) => letters.has(id)).length + added;
}

function answerOf(
  { open }: LogState,
  { turn: turnId, at, commit }: { readonly turn: string; readonly at: number; readonly commit: CommitEntry },
  { event, records }: AskedTurn,
): StoredAnswer | undefined {
  const before = open.turnId === turnId ? open.log : [];
  const result = resultOf({ turnId, at, commit, log: [...before, ...records] });
  if (!result) return undefined;
  const caller = callerOf(event);
  // The text of `encodeReply`.
  const reply = JSON.stringify({ replyTo: event.replyTo, result, ...replyUsage(commit) });
  return { eventId: event.id, reply, ...(caller && { caller }) };
}

/** Makes the frames of a new instance that continues from a moment of another conversation. */
export function forkFrames(to: AgentAddress, fork: ForkedConversation, now: Date): readonly LogFrame[] {
  const createdAt = now.toISOString();
  const at = now.getTime();
  const head = headFrame(to, createdAt);
  const state = firstState(createdAt);
  const { turn, texts, commit } = planForkCommit(state, fork, at, Number.POSITIVE_INFINITY);
  const frame = { turn, at, commit };
  return [head, nextFrame(state, 0, { frame, records: texts, isDurable: true })];
}
