/** The state of an instance: its checkpoint, and the frames after it. */
import type { JsonValue, ReplyAddress, TurnResult } from '@goondan/types';
import type { FinishedUsage } from '../../agent/conversation/conversation-store.ts';
import { reviveMessage } from '../../messages/message-text.ts';
import { usageOf } from '../../usage/count-turn.ts';
import { SpendingSum } from '../../usage/spending.ts';
import type { QueueEntry } from '../lines/durable-queue.ts';
import { turnIdOf } from '../../ports/ids.ts';
import { type CommitEntry, countNumbers, type Frame, type TakenEvent } from './frame.ts';
import { type CommittedTurn, GatheredTurn } from './gather-turns.ts';
import type { LoggedRecord } from './logged-record.ts';
import type { Checkpoint, FileMark } from './metadata.ts';
import type { FinishedTurn } from './finished-turns.ts';
import { encodeReply } from './reply.ts';

/** The number of fetched answers whose keys are kept, so that they are not added again. */
const ANSWERS_REMEMBERED = 256;

/** The input that is handled. */
export interface HandledNumbers {
  /** The number up to which all input is handled; 0 when there is none. */
  readonly handled: number;
  /** The numbers above `handled` of input that turns have taken while they ran. */
  readonly taken: readonly number[];
}

export const NOTHING_HANDLED: HandledNumbers = { handled: 0, taken: [] };

export class LogState {
  /** The number of the last record or commit. */
  seq: number;
  version: number;
  status: Checkpoint['status'];
  updatedAt: number;
  messages: number;
  /** The number up to which all input is handled. */
  inbox: number;
  /** The numbers above `inbox` of input that committed turns have taken, in order. */
  taken: readonly number[];
  statesAlone: { readonly count: number; readonly unarchived: readonly string[] };
  /** The states by extension name: JSON texts, or the marks of their files. */
  readonly states: Map<string, string | FileMark>;
  readonly answers: Map<string, JsonValue>;
  answersRemoved: readonly string[];
  readonly letters: Map<string, JsonValue>;
  /** The model calls of all committed turns; those of the last 400 days. */
  readonly spent: SpendingSum;
  /** The records of the turn that is not committed. */
  readonly open = new GatheredTurn();

  /** `keepsAnswers`: false if the store keeps the answers of turns, and their model calls, beside the log. */
  constructor(
    checkpoint: Checkpoint,
    private readonly keepsAnswers = true,
  ) {
    const { seq, version, status, updatedAt, messages, inbox, statesAlone, answersRemoved } = checkpoint;
    this.seq = seq;
    this.version = version;
    this.status = status;
    this.updatedAt = updatedAt;
    this.messages = messages;
    this.inbox = inbox;
    this.taken = checkpoint.taken ?? [];
    this.statesAlone = statesAlone;
    this.states = new Map(Object.entries(checkpoint.extensions));
    this.answers = new Map(checkpoint.answers.map(({ key, value }) => [key, value]));
    this.answersRemoved = answersRemoved;
    this.spent = new SpendingSum(checkpoint.spent);
    this.letters = new Map(checkpoint.letters.map(({ key, value }) => [key, value]));
  }

  /** A number that increases with every commit, including commits of states alone. */
  get stateVersion(): number {
    return this.version + this.statesAlone.count;
  }

  /** Applies a frame. Returns the turn if the frame commits one. */
  apply(frame: Frame): CommittedTurn | undefined {
    const turn = this.open.add(frame);
    this.seq = frame.seq + countNumbers(frame) - 1;
    if (frame.commit) this.applyCommit(frame.commit, turn);
    return turn;
  }

  /** Applies a commit. `turn`: the committed turn, if the commit is one of a turn. */
  applyCommit(commit: CommitEntry, turn: CommittedTurn | undefined): void {
    const { version, messages, inbox, result, letter, lettersOfTaken = [], lettersRemoved = [] } = commit;
    this.version = version ?? this.version;
    this.messages = messages ?? this.messages;
    this.inbox = inbox ?? this.inbox;
    this.#takeInput(commit.taken);
    this.#applyStates(commit, turn !== undefined);
    if (turn) this.updatedAt = turn.at;
    if (turn) this.status = typeof result === 'object' && result.finishReason === 'error' ? 'failed' : 'idle';
    if (this.keepsAnswers) this.#applyAnswers(commit, turn);
    if (this.keepsAnswers) this.spent.add(commit.spent ?? []);
    for (const id of lettersRemoved) this.letters.delete(id);
    if (letter !== undefined) this.letters.set(letterKey(letter), letter);
    for (const each of lettersOfTaken) this.letters.set(letterKey(each), each);
  }

  /** Returns true if a committed turn has handled the input with this number. */
  isHandled(seq: number): boolean {
    return seq <= this.inbox || this.taken.includes(seq);
  }

  get answerEntries(): readonly QueueEntry[] {
    return Array.from(this.answers, ([key, value]) => ({ key, value }));
  }

  get letterEntries(): readonly QueueEntry[] {
    return Array.from(this.letters, ([key, value]) => ({ key, value }));
  }

  #takeInput(taken: CommitEntry['taken'] = []): void {
    if (taken.length + this.taken.length > 0) ({ inbox: this.inbox, taken: this.taken } = inputAfter(this, taken));
  }

  #applyStates({ states }: CommitEntry, isTurn: boolean): void {
    const names = new Set(isTurn ? [] : this.statesAlone.unarchived);
    if (states && !isTurn) {
      for (const name of [...Object.keys(states.set), ...Object.keys(states.long), ...states.removed]) names.add(name);
    }
    const count = this.statesAlone.count + (states && !isTurn ? 1 : 0);
    this.statesAlone = { count, unarchived: [...names] };
    if (!states) return;
    for (const [name, state] of Object.entries(states.set)) this.states.set(name, JSON.stringify(state));
    for (const [name, mark] of Object.entries(states.long)) this.states.set(name, mark);
    for (const name of states.removed) this.states.delete(name);
  }

  #applyAnswers({ replyTo, answers }: CommitEntry, turn: CommittedTurn | undefined): void {
    for (const { key, value } of answers?.added ?? []) this.answers.set(key, value);
    const answered = turn && replyTo && resultOf(turn);
    if (turn && replyTo && answered) this.answers.set(turn.turnId, replyOf(turn, replyTo, answered));
    this.#removeAnswers(answers?.removed ?? []);
  }

  #removeAnswers(keys: readonly string[]): void {
    if (keys.length === 0) return;
    for (const key of keys) this.answers.delete(key);
    this.answersRemoved = [...this.answersRemoved, ...keys].slice(-ANSWERS_REMEMBERED);
  }
}

function replyOf({ commit }: CommittedTurn, replyTo: ReplyAddress, result: TurnResult): JsonValue {
  return encodeReply({ replyTo, result, ...replyUsage(commit) });
}

/** Returns how far the input is handled, when turns have also taken these events. */
export function inputAfter(
  { inbox, taken: before }: Pick<LogState, 'inbox' | 'taken'>,
  taken: readonly TakenEvent[],
): Pick<LogState, 'inbox' | 'taken'> {
  const numbers = new Set([...before, ...taken.map(([seq]) => seq)]);
  let last = inbox;
  while (numbers.has(last + 1)) last += 1;
  return { inbox: last, taken: [...numbers].filter((seq) => seq > last).toSorted((one, other) => one - other) };
}

/** Returns the result of a turn. Returns `undefined` for a commit that was not a turn. */
export function resultOf({ turnId, log, commit }: CommittedTurn): TurnResult | undefined {
  if (typeof commit.result !== 'object') return undefined;
  const { response, ...rest } = commit.result;
  const result = { turnId, ...rest };
  if (response === undefined) return result;
  if (typeof response === 'object') return { ...result, responseMessage: reviveMessage(response) };
  const message = messageOf(log, response);
  return message && { ...result, responseMessage: message };
}

/**
 * Returns the end of a turn under its id, and under those of the events that it has taken. Empty for a commit that was not a
 * turn.
 */
export function finishedTurns(turn: CommittedTurn): readonly FinishedTurn[] {
  const result = resultOf(turn);
  if (!result) return [];
  const usage = finishedUsage(turn.commit);
  const also = turn.commit.taken?.map(([, eventId]) => turnIdOf(eventId)) ?? [];
  return [...also, turn.turnId].map((turnId) => [turnId, result, usage]);
}

/** Returns the tokens and the steps of a committed turn. */
export function finishedUsage({ spent, called, steps = 0 }: CommitEntry): FinishedUsage {
  return { ...usageOf({ ...(spent && { spent }), ...(called && { called }) }), stepCount: steps };
}

/** Returns the tokens of a committed turn for its caller; none if the turn used none. */
export function replyUsage(commit: CommitEntry): Pick<FinishedUsage, 'usage'> | undefined {
  const { usage } = finishedUsage(commit);
  return usage.totalTokens > 0 ? { usage } : undefined;
}

/** Returns the message of the record with this number. */
export function messageOf(log: readonly LoggedRecord[], seq: number) {
  const record = log.find((each) => each.seq === seq)?.record;
  return record?.type === 'message' && 'message' in record.event ? record.event.message : undefined;
}

function letterKey(letter: JsonValue): string {
  // Safe: only encodeLetter makes these values.
  return (letter as { readonly event: { readonly id: string } }).event.id;
}
