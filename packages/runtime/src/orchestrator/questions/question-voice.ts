/** Tells everybody of questions: the log, the watchers, and the asking processes. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { toAgentAddress } from '../../control/instance-address.ts';
import { type FrameError, messageOf, toFrameError } from '../../ipc/check/frame-error.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import { defined } from '../../json/defined.ts';
import { type QuestionOutcome, type QuestionRecord, summaryOf } from '../../questions/question-record.ts';
import { turnOf } from '../instances/swarm-listener.ts';
import { describeProblem } from '../supervision/describe-problem.ts';
import { decidedNotice, type Entry, noticeOf, subjectOf } from './question-entry.ts';
import type { QuestionsDeps } from './questions-deps.ts';

export class QuestionVoice {
  constructor(private readonly deps: Pick<QuestionsDeps, 'report' | 'tell' | 'say'>) {}

  asked(record: QuestionRecord): void {
    const { id, toolName, reason, kind } = record;
    const waits = kind === 'budget' ? 'A model call above a budget' : toolName;
    this.deps.report('info', 'approval.asked', `${waits} waits for approval ${id}: ${reason}`, subjectOf(record));
    this.deps.tell(() => noticeOf(summaryOf(record)));
  }

  /** Tells of the end of a question, and gives the outcome to the processes that wait for it. */
  decided(entry: Entry, outcome: QuestionOutcome): void {
    const { record } = entry;
    const by = outcome.by === undefined ? '' : ` by ${outcome.by}`;
    const via = outcome.via === undefined ? '' : ` via ${outcome.via}`;
    const grant = outcome.grant === undefined ? '' : `, always allowed in ${outcome.grant}`;
    const message = `${record.toolName}, approval ${record.id}: ${outcome.decision}${by}${via}${grant}.`;
    this.deps.report('info', 'approval.decided', message, subjectOf(record));
    this.answer(entry, outcome);
    this.deps.tell(() => decidedNotice(record, outcome));
  }

  withdrawn(record: QuestionRecord): void {
    this.deps.tell(() => ({ ...noticeOf(summaryOf(record)), state: 'withdrawn' }));
  }

  /** Answers a question with an earlier answer that a person gave for always. */
  granted(at: AgentAddress, during: AgentEvent, callId: string, { id, toolName, answer }: QuestionRecord): void {
    const message = `${toolName}: always allowed by ${answer?.by ?? 'a person'} in ${id}.`;
    this.deps.report('info', 'approval.granted', message, turnOf(at, during.id, during.traceId));
    this.#send(at, callId, { id, decision: 'approved', ...defined({ by: answer?.by, via: answer?.via }), grant: id });
  }

  revoked(record: QuestionRecord, by: string): void {
    const message = `${record.toolName} is asked about again: ${by} revoked ${record.id}.`;
    this.deps.report('info', 'approval.revoked', message, subjectOf(record));
  }

  answer({ record, frames }: Entry, outcome: QuestionOutcome): void {
    for (const callId of frames) this.#send(toAgentAddress(record), callId, { id: record.id, ...outcome });
    frames.clear();
  }

  refuse(at: AgentAddress, callId: string, error: FrameError): void {
    this.deps.say(at, { type: 'question.ended', callId, outcome: { status: 'failed', error } });
  }

  notStored({ record, frames }: Entry, error: unknown): void {
    const failure = toFrameError(error, 'E_STORE_WRITE');
    this.deps.report('error', 'approval.not_written', describeProblem(failure), subjectOf(record));
    // The tool call fails with this error, and the model gets its message.
    for (const callId of frames) this.refuse(toAgentAddress(record), callId, withoutPlace(failure));
  }

  staysOpen(id: string, error: unknown): void {
    this.deps.report('warn', 'approval.not_written', `Approval ${id} stays open: ${messageOf(error)}`);
  }

  notRemoved(record: QuestionRecord, error: unknown): void {
    const message = `Approval ${record.id} has ended, but stays on disk until the next start: ${messageOf(error)}`;
    this.deps.report('warn', 'approval.kept', message, subjectOf(record));
  }

  #send(at: AgentAddress, callId: string, answer: QuestionOutcome & { readonly id: string }): void {
    this.deps.say(at, { type: 'question.ended', callId, outcome: { status: 'answered', answer } });
  }
}
