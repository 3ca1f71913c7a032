/** The questions that a node knows: those of its own instances, and of all others of the swarm. */
import type { AgentAddress, GoondanError } from '@goondan/types';
import { toAgentAddress } from '../../control/instance-address.ts';
import { defined } from '../../json/defined.ts';
import type { Ids } from '../../ports/ids.ts';
import { type EndedQuestion, findReplyProblem, type QuestionReply } from '../../questions/check-reply.ts';
import { type QuestionRecord, type QuestionSummary, summaryOf } from '../../questions/question-record.ts';
import { shortHash } from '../../workspace/layout/path-segment.ts';
import { isSameAddress } from '../address/address-key.ts';
import { EndedQuestions } from './ended-questions.ts';
import { endOf, type Entry, isLate, isUnanswered } from './question-entry.ts';
import type { QuestionsDeps } from './questions-deps.ts';

export class QuestionBook {
  /** By id, oldest first. */
  readonly entries = new Map<string, Entry>();
  readonly ended = new EndedQuestions();

  constructor(private readonly deps: Pick<QuestionsDeps, 'clock' | 'nodes'>) {}

  all(): Entry[] {
    return [...this.entries.values()];
  }

  of(at: AgentAddress): Entry[] {
    return this.all().filter(({ record }) => isSameAddress(toAgentAddress(record), at));
  }

  recordsOf(at: AgentAddress): QuestionRecord[] {
    return this.of(at).map(({ record }) => record);
  }

  isLate(entry: Entry): boolean {
    return isLate(entry, this.deps.clock);
  }

  isOwned(record: Pick<QuestionRecord, 'agent' | 'instanceKey'>): boolean {
    return this.deps.nodes?.isOwned(toAgentAddress(record)) ?? true;
  }

  /** Makes a short id, because people type it. */
  newId(ids: Ids): string {
    const id = shortHash(ids.next('approval')).slice(0, 8);
    return this.entries.has(id) ? this.newId(ids) : id;
  }

  /** Returns the end of a question; `undefined` while people can answer it, or an answer is being written. */
  endOf(id: string): EndedQuestion | undefined {
    const entry = this.entries.get(id);
    if (entry === undefined) return this.ended.get(id)?.ended ?? { how: 'withdrawn' };
    return isUnanswered(entry) ? undefined : endOf(entry);
  }

  /** Remembers how a question ended that is removed. `revoked`: the answer was for always, and is revoked. */
  remember(entry: Entry, revoked?: EndedQuestion['revoked']): void {
    const end = (isUnanswered(entry) ? undefined : endOf(entry)) ?? { how: 'withdrawn' };
    this.ended.add(summaryOf(entry.record), { ...end, ...defined({ revoked }) });
  }

  /** Returns the problem of an answer. `end`: the end of the question, if this node does not know it. */
  problemOf(
    reply: QuestionReply,
    mayAnswer: (question: QuestionSummary) => boolean,
    end?: EndedQuestion,
  ): GoondanError | undefined {
    const entry = this.entries.get(reply.id);
    // A question that is not stored yet is unknown.
    const isKnown = entry !== undefined && entry.stage !== 'saving';
    const found = isKnown ? { question: summaryOf(entry.record), ended: endOf(entry) } : this.ended.get(reply.id);
    if (found === undefined) return findReplyProblem(defined({ ended: end }), reply);
    const { question } = found;
    // A question of another node does not expire here.
    const late = entry !== undefined && this.isLate(entry) ? ({ how: 'expired' } as const) : end;
    const ended = found.ended ?? late;
    return findReplyProblem({ question, ...defined({ ended }), isForbidden: !mayAnswer(question) }, reply);
  }
}
