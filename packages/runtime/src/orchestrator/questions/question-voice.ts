/** Tells everybody of questions: the log, the watchers, and the asking processes. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { toAgentAddress } from '../../control/instance-address.ts';
import { type FrameError, messageOf, toFrameError } from '../../ipc/check/frame-error.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import { defined } from '../../json/defined.ts';
import type { GrantRevocation } from '../../questions/grant-summary.ts';
import {
  type QuestionKind,
  type QuestionOutcome,
  type QuestionRecord,
  summaryOf,
} from '../../questions/question-record.ts';
import { nameDoor, nameVerdict } from '../../trace/name-answer.ts';
import { turnOf } from '../instances/swarm-listener.ts';
import { describeProblem } from '../supervision/describe-problem.ts';
import { decidedNotice, type Entry, noticeOf, subjectOf } from './question-entry.ts';
import type { QuestionsDeps } from './questions-deps.ts';

const approval = { noun: 'approval', waits: 'waits for approval' };
const question = { noun: 'question', waits: 'waits for an answer to question' };
const words: Readonly<Record<QuestionKind, typeof approval>> = {
  call: approval,
  change: approval,
  budget: approval,
  form: question,
  page: question,
};

export class QuestionVoice {
  constructor(private readonly deps: Pick<QuestionsDeps, 'report' | 'tell' | 'say'>) {}

  asked(record: QuestionRecord): void {
    const { id, toolName, reason, kind } = record;
    const subject = kind === 'budget' ? 'A model call above a budget' : toolName;
    const message = `${subject} ${words[kind].waits} ${id}: ${reason}`;
    this.deps.report('info', 'approval.asked', message, subjectOf(record));
    this.deps.tell(() => noticeOf(summaryOf(record)));
  }

  /** Tells of the end of a question, and gives the outcome to the processes that wait for it. */
  decided(entry: Entry, outcome: QuestionOutcome): void {
    const { record } = entry;
    this.#logEnd(entry, outcome);
    this.answer(entry, outcome);
    this.deps.tell(() => decidedNotice(record, outcome));
  }

  /**
   * Gives the outcome of a stored question to the processes that wait for it. The log gets it, unless it has it already:
   * nobody wrote a log while the swarm was stopped.
   */
  taken(entry: Entry, outcome: QuestionOutcome): void {
    const { askedAt, answer } = entry.record;
    const decidedAt = outcome.decision === 'expired' ? undefined : answer?.decidedAt;
    if (entry.isLogged !== true)
      this.#logEnd(entry, outcome, decidedAt === undefined ? '' : ` at ${decidedAt}, and taken now`);
    // The clocks of two machines may differ.
    const afterMs = decidedAt === undefined ? undefined : Math.max(0, Date.parse(decidedAt) - Date.parse(askedAt));
    this.answer(entry, { ...outcome, ...defined({ afterMs }) });
  }

  withdrawn(record: QuestionRecord): void {
    this.deps.tell(() => ({ ...noticeOf(summaryOf(record)), state: 'withdrawn' }));
  }

  /** Answers a question with an earlier answer that a person gave for always. */
  granted(at: AgentAddress, during: AgentEvent, callId: string, { id, toolName, answer }: QuestionRecord): void {
    const message = `${toolName}: always allowed${nameDoor({ by: 'a person', ...answer })} in ${id}.`;
    this.deps.report('info', 'approval.granted', message, turnOf(at, during.id, during.traceId));
    this.#send(at, callId, { id, decision: 'approved', ...defined({ by: answer?.by, via: answer?.via }), grant: id });
  }

  revoked(record: QuestionRecord, revocation: GrantRevocation): void {
    const message = `${record.toolName} is asked about again: ${record.id} was revoked${nameDoor(revocation)}.`;
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
    this.deps.report('warn', 'approval.not_written', `Question ${id} stays open: ${messageOf(error)}`);
  }

  notRemoved(record: QuestionRecord, error: unknown): void {
    const message = `Question ${record.id} has ended, but stays on disk until the next start: ${messageOf(error)}`;
    this.deps.report('warn', 'approval.kept', message, subjectOf(record));
  }

  #logEnd(entry: Entry, outcome: QuestionOutcome, when = ''): void {
    const { id, toolName, kind } = entry.record;
    const grant = outcome.grant === undefined ? '' : `, always allowed in ${outcome.grant}`;
    const verdict = `${nameVerdict(kind, outcome.decision)}${nameDoor(outcome)}${when}${grant}`;
    this.deps.report(
      'info',
      'approval.decided',
      `${toolName}, ${words[kind].noun} ${id}: ${verdict}.`,
      subjectOf(entry.record),
    );
    entry.isLogged = true;
  }

  #send(at: AgentAddress, callId: string, answer: QuestionOutcome & { readonly id: string }): void {
    this.deps.say(at, { type: 'question.ended', callId, outcome: { status: 'answered', answer } });
  }
}
