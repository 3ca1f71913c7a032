/**
 * Questions that people answer: asked by agent processes, and stored on disk in between.
 *
 * Invariants:
 * 1. The channel identifies the asking process. The instance, the event and the trace of a question, and the right to
 *    take its answer, follow from the channel and never from a frame.
 * 2. A process cannot answer a question by a frame. Only the swarm's control calls `answer`.
 * 3. A question is identified by its instance, turn, position, call, tool and subject. The same question after a crash joins
 *    the open one or gets its answer. If any of these differs, it is another question. One at the same position replaces
 *    an open one of a process that is gone: its turn never takes that answer.
 * 4. An answer is durable before it is published, and is valid for its own question only, unless a person always allowed
 *    the call. The answer is removed when the turn has taken it, when the question is withdrawn, or when the turn ends.
 * 5. A question expires at `expiresAt` if its answer is missing or was not fetched. The wall clock or the monotonic
 *    clock decides, whichever reaches the time first: the wall clock covers a machine that slept, and the monotonic
 *    clock covers a wall clock that was set back.
 * 6. A changeset or a budget is approved only by an answer to a question of its own conversation, of its kind, with exactly
 *    its arguments.
 * 7. An answer about a budget also answers all other open questions about exactly the same raise of the same budget. An
 *    answer for always also answers the open questions about calls that it allows. Neither of them answers for the client of a
 *    connection what another client was asked.
 * 8. At most `mostOfAll` questions in total and `mostOfOne` per instance are open; a further one gets
 *    `E_APPROVALS_FULL`.
 * 9. On several nodes, every node lists and answers the questions of all. Only the owner of an instance lets its questions
 *    expire, removes them, and tells of them. A question whose node died stays, and the resumed turn joins it.
 * 10. A grant, an answer that a person gave for always, stays until it is revoked or its conversation ends.
 */
import type { AgentAddress, AgentEvent, JsonObject } from '@goondan/types';
import { toAgentAddress } from '../../control/instance-address.ts';
import type { QuestionNotice } from '../../control/swarm.ts';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import { answerToo } from '../../questions/answered-too.ts';
import { answerOf, type EndedQuestion, endedError, type QuestionReply } from '../../questions/check-reply.ts';
import { findGrantProblem, isGrant } from '../../questions/grant-summary.ts';
import {
  type QuestionAnswer,
  type QuestionOutcome,
  type QuestionRecord,
  type QuestionSummary,
  summaryOf,
} from '../../questions/question-record.ts';
import { addressKey, isSameAddress } from '../address/address-key.ts';
import type { AgentFrame, FinishedTurn, SwarmListener } from '../instances/swarm-listener.ts';
import { NamedTimers } from '../supervision/named-timers.ts';
import { approvalOf, type AskFrame, findRoomProblem, isSameQuestion, newRecord } from './asked-question.ts';
import { QuestionBook } from './question-book.ts';
import { Grants } from './grants.ts';
import { type Entry, isNoGrant, isReplaced, isUnanswered, noticeOf, outcomeOf, storedEntry } from './question-entry.ts';
import { QuestionVoice } from './question-voice.ts';
import type { QuestionsDeps } from './questions-deps.ts';

export const questionLimits = { mostOfAll: 256, mostOfOne: 64 };

export class Questions implements SwarmListener {
  readonly #book: QuestionBook;
  readonly #timers: NamedTimers<string>;
  readonly #unsubscribe: () => void;
  readonly #voice: QuestionVoice;
  readonly grants: Grants;
  /** The keys of instances whose requests were read again since this node owns them. */
  readonly #isRead = new Set<string>();
  /** Returns the end of a question; `undefined` while it waits for people. */
  readonly endOf = (id: string) => this.#book.endOf(id);

  constructor(private readonly deps: QuestionsDeps) {
    this.#book = new QuestionBook(deps);
    this.#voice = new QuestionVoice(deps);
    this.grants = new Grants(this.#book, deps, this.#voice);
    this.#timers = new NamedTimers(deps.clock, () => this.#expireLate());
    this.#unsubscribe = deps.store.onChange((id, record) => this.#changed(id, record));
    for (const record of deps.requests) this.#add(record);
  }

  /** Returns the notices of this node's requests that people can answer now, for a watcher that connects later. */
  notices(): QuestionNotice[] {
    return this.pending()
      .filter((question) => this.#book.isOwned(question))
      .map((question) => noticeOf(question));
  }

  /** Lists the requests that people can answer now, oldest first. */
  pending(): readonly QuestionSummary[] {
    this.#expireLate();
    const open = this.#book.all().filter((entry) => entry.stage === 'open' && !this.#book.isLate(entry));
    return open.map(({ record }) => summaryOf(record));
  }

  /** Returns the number of unanswered requests of this instance. */
  countPending(at: AgentAddress): number {
    return this.#book.of(at).filter(isUnanswered).length;
  }

  /** Lists the instances that wait for approval. */
  asking(): readonly AgentAddress[] {
    return this.#book
      .all()
      .filter((entry) => isUnanswered(entry) && (this.#book.isOwned(entry.record) || !this.#book.isLate(entry)))
      .map(({ record }) => toAgentAddress(record));
  }

  /**
   * Finds the approval of a changeset or a budget: the question `id` of this instance, of this kind and about `args`, which
   * a person approved. Returns `undefined` if there is no such approval.
   */
  findApproval(at: AgentAddress, id: string, kind: QuestionRecord['kind'], args: JsonObject) {
    return approvalOf(this.#book.of(at).find((entry) => entry.record.id === id)?.record, kind, args);
  }

  heard(at: AgentAddress, frame: AgentFrame, during: AgentEvent | undefined): void {
    if (frame.type === 'question.ask') this.ask(at, during, frame);
    if (frame.type === 'question.withdrawn') this.withdrawn(at, frame.callId);
    if (frame.type === 'question.taken') this.taken(at, frame.id);
  }

  /** Handles an approval frame from the process of the instance `at`, which runs the turn of the event `during`. */
  ask(at: AgentAddress, during: AgentEvent | undefined, frame: AskFrame): void {
    const refuse = (error: FrameError) => this.#voice.refuse(at, frame.callId, error);
    if (during === undefined) {
      return refuse({ code: 'E_APPROVAL_REQUEST', message: 'A question to a person was asked outside of a turn.' });
    }
    const { clock, ids } = this.deps;
    const asked = { at, during, frame, now: clock.now(), mask: this.deps.maskFor(at.agentName) };
    const known = this.#book.all().find(({ record }) => isSameQuestion(record, asked));
    if (known !== undefined) return this.#join(known, frame.callId);
    if (this.deps.nodes !== undefined && !this.#isRead.has(addressKey(at))) {
      const fail = (error: unknown) => refuse(toFrameError(error, 'E_STORE_READ'));
      return void this.#readStored(at).then(() => this.ask(at, during, frame), fail);
    }
    const replaced = this.#book.of(at).find((entry) => isReplaced(entry, asked));
    if (replaced !== undefined) this.#drop([replaced]);
    if (this.grants.use(at, during, frame, () => this.ask(at, during, frame))) return;
    const made =
      findRoomProblem(
        at,
        this.#book.of(at).filter(isNoGrant).length,
        this.#book.all().filter(isNoGrant).length,
        questionLimits,
      ) ?? newRecord(asked, this.#book.newId(ids));
    if ('code' in made) return refuse(made);
    const entry: Entry = { record: made, deadline: Infinity, frames: new Set([frame.callId]), stage: 'saving' };
    this.#book.entries.set(made.id, entry);
    void this.#save(entry);
  }

  /**
   * Removes a frame that the asking process no longer waits for. If it was the request's last frame, removes the
   * request.
   */
  withdrawn(at: AgentAddress, callId: string): void {
    const entry = this.#book.of(at).find(({ frames }) => frames.has(callId));
    entry?.frames.delete(callId);
    if (entry?.frames.size === 0) this.#drop([entry]);
  }

  /** Removes an answered request, because the turn has made its answer durable. */
  taken(at: AgentAddress, id: string): void {
    const entry = this.#book.of(at).find(({ record }) => record.id === id);
    if (entry?.stage === 'answered' || entry?.stage === 'expired') this.#drop([entry].filter(isNoGrant));
  }

  /** Removes the frames of a process that has exited. */
  processGone(at: AgentAddress): void {
    for (const { frames } of this.#book.of(at)) frames.clear();
  }

  /** Called when this node has become the owner of the instance: its requests now expire here. */
  own(at: AgentAddress): void {
    for (const entry of this.#book.of(at)) if (entry.stage === 'open') this.#watchExpiry(entry);
  }

  /** Called when the instance has left this node. Its requests stay. */
  moved(at: AgentAddress): void {
    this.#isRead.delete(addressKey(at));
    this.processGone(at);
    for (const { record } of this.#book.of(at)) this.#timers.clear(record.id);
  }

  turnFinished(at: AgentAddress, { event }: Pick<FinishedTurn, 'event'>): void {
    this.drop(at, event.id);
  }

  /** Removes the questions of a turn that has ended, or, without an event id, all questions and grants of the instance. */
  drop(at: AgentAddress, eventId?: string): void {
    const own = this.#book.of(at);
    this.#drop(eventId === undefined ? own : own.filter(isNoGrant).filter(({ record }) => record.eventId === eventId));
  }

  /** Removes the requests of turns that have ended. Called at the start. */
  dropUnless(isOpen: (at: AgentAddress, eventId: string) => boolean): void {
    const isOver = ({ record }: Entry) => !isOpen(toAgentAddress(record), record.eventId);
    this.#drop(this.#book.all().filter(isNoGrant).filter(isOver));
  }

  /**
   * Records a person's answer. Resolves when it is durable. `mayAnswer`: tells whether the channel may answer a question.
   *
   * **Errors** — those of `findReplyProblem`, and those of the disk; the question then stays undecided.
   */
  async answer(reply: QuestionReply, mayAnswer: (question: QuestionSummary) => boolean = () => true): Promise<void> {
    const entry = this.#book.entries.get(reply.id);
    if (entry?.stage === 'open' && this.#book.isLate(entry)) this.#expireLate();
    const problem = this.#book.problemOf(reply, mayAnswer);
    if (problem !== undefined) throw problem;
    if (entry === undefined) return;
    const full = findGrantProblem(this.#book.recordsOf(toAgentAddress(entry.record)), reply);
    if (full !== undefined) throw full;
    const how = await this.#store(entry, answerOf(reply, this.deps.clock.now()));
    // Without an end, another node has answered it, and the store has not told this one yet.
    if (how !== undefined) throw this.#book.problemOf(reply, mayAnswer, { how }) ?? endedError(reply.id, { how });
    for (const other of this.#book.all()) void this.#answerToo(other, entry.record);
  }

  /** Stores the answer of an open question. Returns the end of the question if it ended otherwise meanwhile. */
  async #store(entry: Entry, answer: QuestionAnswer): Promise<EndedQuestion['how'] | undefined> {
    const record = { ...entry.record, answer };
    entry.stage = 'deciding';
    let isAnswered: boolean;
    try {
      isAnswered = await this.deps.store.answer(record);
    } catch (error) {
      if (this.#book.entries.has(record.id)) this.#reopen(entry);
      else this.#removeFromDisk(entry);
      throw error;
    }
    const isKnown = this.#book.entries.has(record.id);
    // The owner can use the answer, and remove the question, before this node knows that its answer is stored.
    const isUsed = isAnswered && !isKnown && !this.#book.isOwned(record);
    // The turn ended during the write.
    if (!isKnown && !isUsed) this.#removeFromDisk(entry);
    else if (!isAnswered) this.#reopen(entry);
    else {
      entry.record = record;
      this.#settle(entry, 'answered', outcomeOf(entry.record, answer));
      if (isUsed) this.#book.remember(entry);
      return undefined;
    }
    return this.#book.entries.has(record.id) ? 'answered' : 'withdrawn';
  }

  /** Gives another open question the answer of `answered`, if it is also valid there. If that fails, it stays open. */
  async #answerToo(entry: Entry, answered: QuestionRecord): Promise<void> {
    const answer = answerToo(entry.record, answered);
    if (answer === undefined || entry.stage !== 'open' || this.#book.isLate(entry)) return;
    await this.#store(entry, answer).catch((error: unknown) => this.#voice.staysOpen(entry.record.id, error));
  }

  close(): void {
    this.#unsubscribe();
    this.#timers.clearAll();
  }

  /** Reads requests of a dead node that the store has not told of yet. */
  async #readStored(at: AgentAddress): Promise<void> {
    for (const record of (await this.deps.nodes?.list(at)) ?? []) {
      if (!this.#book.entries.has(record.id) && isSameAddress(toAgentAddress(record), at)) this.#add(record);
    }
    this.#isRead.add(addressKey(at));
  }

  #add(record: QuestionRecord): void {
    const entry = storedEntry(record);
    this.#book.entries.set(record.id, entry);
    if (entry.stage === 'open') this.#watchExpiry(entry);
  }

  /** Takes over a change that came in at another node. */
  #changed(id: string, record: QuestionRecord | undefined): void {
    const entry = this.#book.entries.get(id);
    if (record === undefined) {
      if (entry === undefined) return;
      // A revoked grant, or a request whose conversation is being deleted.
      if (this.#book.isOwned(entry.record) && !isGrant(entry.record)) return this.#drop([entry]);
      this.#book.entries.delete(id);
      this.#book.remember(entry, isGrant(entry.record) ? {} : undefined);
      return this.deps.events.waitsChanged();
    }
    if (entry === undefined) {
      // The requests of an own instance are made here.
      if (this.#book.isOwned(record)) return;
      this.#add(record);
      return this.deps.events.waitsChanged();
    }
    if (record.answer === undefined || !(isUnanswered(entry) || entry.stage === 'saving')) return;
    entry.record = record;
    // While the request or an answer is being written here, the writer settles the request.
    if (entry.stage === 'open') this.#settle(entry, 'answered', outcomeOf(record, record.answer));
  }

  /** Opens a request again, because the answer from here was not stored. Another node may have answered it. */
  #reopen(entry: Entry): void {
    const { answer } = entry.record;
    entry.stage = 'open';
    if (answer !== undefined) this.#settle(entry, 'answered', outcomeOf(entry.record, answer));
    // The timer fires only once and may have fired during the write.
    else if (this.#book.isLate(entry)) this.#expireLate();
  }

  async #save(entry: Entry): Promise<void> {
    const { record } = entry;
    try {
      await this.deps.store.put(record);
    } catch (error) {
      this.#book.entries.delete(record.id);
      return this.#voice.notStored(entry, error);
    }
    if (!this.#book.entries.has(record.id)) return this.#removeFromDisk(entry);
    entry.stage = 'open';
    this.#watchExpiry(entry);
    if (this.#book.isOwned(record)) this.#voice.asked(record);
    this.deps.events.waitsChanged();
    // Another node can hear of the request, and answer it, before this one knows that it is stored.
    const { answer } = entry.record;
    if (answer !== undefined) return this.#settle(entry, 'answered', outcomeOf(entry.record, answer));
    // A person can have allowed the call for always during the write.
    const grant = this.grants.find(toAgentAddress(record), record);
    if (grant !== undefined) await this.#answerToo(entry, grant);
  }

  #join(entry: Entry, callId: string): void {
    entry.frames.add(callId);
    const { answer } = entry.record;
    if (entry.stage === 'expired' || (answer !== undefined && this.#book.isLate(entry))) {
      return this.#voice.taken(entry, { decision: 'expired' });
    }
    if (answer !== undefined) this.#voice.taken(entry, outcomeOf(entry.record, answer));
  }

  /** Ends all requests that are late, and tells of the change once: each telling looks at every request. */
  #expireLate(): void {
    const isDue = (entry: Entry) => entry.stage === 'open' && this.#book.isLate(entry);
    const due = this.#book.all().filter((entry) => isDue(entry) && this.#book.isOwned(entry.record));
    for (const entry of due) this.#end(entry, 'expired', { decision: 'expired' });
    if (due.length > 0) this.deps.events.waitsChanged();
  }

  #settle(entry: Entry, stage: 'answered' | 'expired', outcome: QuestionOutcome): void {
    this.#end(entry, stage, outcome);
    this.deps.events.waitsChanged();
  }

  /** The only place that ends a request (invariant 4). */
  #end(entry: Entry, stage: 'answered' | 'expired', outcome: QuestionOutcome): void {
    entry.stage = stage;
    this.#timers.clear(entry.record.id);
    // The owner of the asking instance is told by the store, and tells everybody else.
    if (!this.#book.isOwned(entry.record)) return;
    this.#voice.decided(entry, outcome);
    this.deps.events.decided(entry.record, outcome);
  }

  /** Removes requests, and tells of the change once. */
  #drop(entries: readonly Entry[]): void {
    const shown = entries.filter(({ stage }) => stage === 'open' || stage === 'deciding');
    for (const entry of entries) {
      const { stage } = entry;
      this.#book.entries.delete(entry.record.id);
      this.#timers.clear(entry.record.id);
      this.#book.remember(entry);
      // While a write is running, the writer removes the record.
      if (stage !== 'saving' && stage !== 'deciding') this.#removeFromDisk(entry);
    }
    for (const { record } of shown) this.#voice.withdrawn(record);
    if (shown.length > 0) this.deps.events.waitsChanged();
  }

  #removeFromDisk({ record }: Entry): void {
    this.deps.store.remove(record.id).catch((error: unknown) => this.#voice.notRemoved(record, error));
  }

  #watchExpiry(entry: Entry): void {
    const { clock } = this.deps;
    const { id, expiresAt } = entry.record;
    entry.deadline = clock.elapsed() + (Date.parse(expiresAt) - clock.now().getTime());
    if (this.#book.isOwned(entry.record)) this.#timers.set(id, entry.deadline);
  }
}
