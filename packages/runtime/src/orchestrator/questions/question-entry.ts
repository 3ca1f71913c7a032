/** A question as the orchestrator keeps it in memory. */
import { toAgentAddress } from '../../control/instance-address.ts';
import type { QuestionNotice } from '../../control/swarm.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EndedQuestion } from '../../questions/check-reply.ts';
import { isGrant } from '../../questions/grant-summary.ts';
import {
  type QuestionAnswer,
  type QuestionOutcome,
  type QuestionRecord,
  type QuestionSummary,
  summaryOf,
} from '../../questions/question-record.ts';
import { type ReportSubject, turnOf } from '../instances/swarm-listener.ts';
import type { AskedQuestion } from './asked-question.ts';

export interface Entry {
  record: QuestionRecord;
  /** The expiry on the monotonic clock; set once the request can be answered. */
  deadline: number;
  /** Ids of the frames that wait for the answer. Empty while the asking instance has no process. */
  readonly frames: Set<string>;
  /** `saving`: not yet on disk. `open`: visible to people. `deciding`: an answer is being written to disk. */
  stage: 'saving' | 'open' | 'deciding' | 'answered' | 'expired';
  /** True if this process has logged the end of the question. */
  isLogged?: boolean;
}

/** Makes the entry of a request that the store has. */
export function storedEntry(record: QuestionRecord): Entry {
  return {
    record,
    deadline: Infinity,
    frames: new Set(),
    stage: record.answer === undefined ? 'open' : 'answered',
  };
}

/** Returns true if people can still answer the request, or its answer is being written. */
export function isUnanswered({ stage }: Entry): boolean {
  return stage === 'open' || stage === 'deciding';
}

/** Compares with both clocks, because timers do not run while a machine sleeps. */
export function isLate({ record, deadline }: Entry, clock: Clock): boolean {
  return clock.now().getTime() >= Date.parse(record.expiresAt) || clock.elapsed() >= deadline;
}

export function noticeOf(question: QuestionSummary): QuestionNotice {
  const { agent, instanceKey } = question;
  return { type: 'question', state: 'asked', at: { agent, instanceKey }, question };
}

export function decidedNotice(record: QuestionRecord, outcome: QuestionOutcome): QuestionNotice {
  const { decision, by, via, note, args } = outcome;
  return { ...noticeOf(summaryOf(record)), state: 'decided', outcome: defined({ decision, by, via, note, args }) };
}

/** Returns the part of an answer that the turn gets. */
export function outcomeOf(
  record: QuestionRecord,
  { decision, by, via, note, args, content, grant }: QuestionAnswer,
): QuestionOutcome {
  const seen = args === undefined ? undefined : record.args;
  return defined({ decision, by, via, note, args, content, seen, grant });
}

/** Returns the end of a question; `undefined` while people can answer it. */
export function endOf({ stage, record }: Entry): EndedQuestion | undefined {
  if (stage === 'open') return undefined;
  if (stage === 'expired') return { how: 'expired' };
  return { how: 'answered', ...defined({ by: record.answer?.by, via: record.answer?.via }) };
}

/** Returns true if the turn now asks something else at the position of this question, and no process waits for its answer. */
export function isReplaced({ stage, record, frames }: Entry, { during, frame }: AskedQuestion): boolean {
  const isOver = stage === 'answered' || stage === 'expired';
  return !isOver && frames.size === 0 && record.eventId === during.id && record.key === frame.key;
}

export function isNoGrant({ record }: Entry): boolean {
  return !isGrant(record);
}

export function subjectOf(record: QuestionRecord): ReportSubject {
  return turnOf(toAgentAddress(record), record.eventId, record.traceId);
}
