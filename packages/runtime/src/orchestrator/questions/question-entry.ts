/** A request for approval as the orchestrator keeps it in memory. */
import { toAgentAddress } from '../../control/instance-address.ts';
import type { QuestionNotice, QuestionSummary } from '../../control/swarm.ts';
import type { Clock } from '../../ports/clock.ts';
import type { QuestionRecord } from '../../workspace/questions/question-record.ts';
import { type ReportSubject, turnOf } from '../instances/swarm-listener.ts';

export interface Entry {
  record: QuestionRecord;
  /** The expiry on the monotonic clock; set once the request can be answered. */
  deadline: number;
  /** Ids of the frames that wait for the answer. Empty while the asking instance has no process. */
  readonly frames: Set<string>;
  /** `saving`: not yet on disk. `open`: visible to people. `deciding`: an answer is being written to disk. */
  stage: 'saving' | 'open' | 'deciding' | 'answered' | 'expired';
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

export function subjectOf(record: QuestionRecord): ReportSubject {
  return turnOf(toAgentAddress(record), record.eventId, record.traceId);
}
