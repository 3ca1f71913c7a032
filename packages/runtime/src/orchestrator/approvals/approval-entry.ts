/** A request for approval as the orchestrator keeps it in memory. */
import { toAgentAddress } from '../../control/instance-address.ts';
import type { ApprovalNotice, ApprovalSummary } from '../../control/swarm.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ApprovalRecord } from '../../workspace/approvals/approval-record.ts';
import { type ReportSubject, turnOf } from '../instances/swarm-listener.ts';

export interface Entry {
  record: ApprovalRecord;
  /** The expiry on the monotonic clock; set once the request can be answered. */
  deadline: number;
  /** Ids of the frames that wait for the answer. Empty while the asking instance has no process. */
  readonly frames: Set<string>;
  /** `saving`: not yet on disk. `open`: visible to people. `deciding`: an answer is being written to disk. */
  stage: 'saving' | 'open' | 'deciding' | 'answered' | 'expired';
}

/** Makes the entry of a request that the store has. */
export function storedEntry(record: ApprovalRecord): Entry {
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

export function noticeOf(approval: ApprovalSummary): ApprovalNotice {
  const { agent, instanceKey } = approval;
  return { type: 'approval', state: 'asked', at: { agent, instanceKey }, approval };
}

export function subjectOf(record: ApprovalRecord): ReportSubject {
  return turnOf(toAgentAddress(record), record.eventId, record.traceId);
}
