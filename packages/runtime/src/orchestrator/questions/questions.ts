/**
 * Tool calls that wait for approval: requested by agent processes, answered by people, and stored on disk in between.
 *
 * Invariants:
 * 1. The channel identifies the asking process. The instance, the event and the trace of a request, and the right to
 *    take its answer, follow from the channel and never from a frame.
 * 2. A process cannot answer a request by a frame. Only the swarm's control calls `decide`.
 * 3. A request is identified by its instance, turn, position, call and arguments. The same request after a crash joins
 *    the open request or gets its answer. If any of these differs, it is another request.
 * 4. An answer is durable before it is published, and is valid for its own request only. The answer is removed when the
 *    turn has taken it, when the request is withdrawn, or when the turn ends.
 * 5. A request expires at `expiresAt` if its answer is missing or was not fetched. The wall clock or the monotonic
 *    clock decides, whichever reaches the time first: the wall clock covers a machine that slept, and the monotonic
 *    clock covers a wall clock that was set back.
 * 6. A changeset or a budget is approved only by an answer to a question of its own conversation, of its kind, with exactly
 *    its arguments.
 * 7. An answer about a budget also answers all other open requests about exactly the same raise of the same budget.
 * 8. At most `mostOfAll` requests in total and `mostOfOne` per instance are open; a further one gets
 *    `E_APPROVALS_FULL`.
 * 9. On several nodes, every node lists and answers the requests of all. Only the owner of an instance lets its requests
 *    expire, removes them, and tells of them. A request whose node died stays, and the resumed turn joins it.
 */
import type { AgentAddress, AgentEvent, ApprovalOutcome, JsonObject } from '@goondan/types';
import { toAgentAddress } from '../../control/instance-address.ts';
import type { QuestionNotice, QuestionSummary } from '../../control/swarm.ts';
import { type FrameError, messageOf, toFrameError } from '../../ipc/check/frame-error.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import { defined } from '../../json/defined.ts';
import type { Ids } from '../../ports/ids.ts';
import type { QuestionRecord } from '../../workspace/questions/question-record.ts';
import { shortHash } from '../../workspace/layout/path-segment.ts';
import { addressKey, isSameAddress } from '../address/address-key.ts';
import type { QuestionsDeps } from './questions-deps.ts';
import { describeProblem } from '../supervision/describe-problem.ts';
import type { AgentFrame, FinishedTurn, SwarmListener } from '../instances/swarm-listener.ts';
import { NamedTimers } from '../supervision/named-timers.ts';
import { type Entry, isLate, isUnanswered, noticeOf, storedEntry, subjectOf } from './question-entry.ts';
import {
  approvalOf,
  isAnsweredWith,
  type AskFrame,
  findRoomProblem,
  isSameQuestion,
  newRecord,
  summaryOf,
} from './asked-question.ts';

export const questionLimits = { mostOfAll: 256, mostOfOne: 64 };

export class Questions implements SwarmListener {
  readonly #entries = new Map<string, Entry>();
  readonly #timers: NamedTimers<string>;
  readonly #unsubscribe: () => void;
  /** The keys of instances whose requests were read again since this node owns them. */
  readonly #isRead = new Set<string>();

  constructor(private readonly deps: QuestionsDeps) {
    this.#timers = new NamedTimers(deps.clock, (id) => this.#expire(id));
    this.#unsubscribe = deps.store.onChange((id, record) => this.#changed(id, record));
    for (const record of deps.requests) this.#add(record);
  }

  /** Returns the notices of this node's requests that people can answer now, for a watcher that connects later. */
  notices(): QuestionNotice[] {
    return this.pending()
      .filter((question) => this.#isOwned(question))
      .map((question) => noticeOf(question));
  }

  /** Lists the requests that people can answer now, oldest first. */
  pending(): readonly QuestionSummary[] {
    const open = this.#all().filter(({ stage }) => stage === 'open');
    const late = new Set(open.filter((entry) => this.#isLate(entry)));
    for (const { record } of late) this.#expire(record.id);
    return open.filter((entry) => !late.has(entry)).map(({ record }) => summaryOf(record));
  }

  /** Returns the number of unanswered requests of this instance. */
  countPending(at: AgentAddress): number {
    return this.#of(at).filter(isUnanswered).length;
  }

  /** Lists the instances that wait for approval. */
  asking(): readonly AgentAddress[] {
    return this.#all()
      .filter((entry) => isUnanswered(entry) && (this.#isOwned(entry.record) || !this.#isLate(entry)))
      .map(({ record }) => toAgentAddress(record));
  }

  /**
   * Finds the approval of a changeset or a budget: the question `id` of this instance, of this kind and about `args`, which
   * a person approved. Returns `undefined` if there is no such approval.
   */
  findApproval(at: AgentAddress, id: string, kind: QuestionRecord['kind'], args: JsonObject) {
    return approvalOf(this.#of(at).find((entry) => entry.record.id === id)?.record, kind, args);
  }

  heard(at: AgentAddress, frame: AgentFrame, during: AgentEvent | undefined): void {
    if (frame.type === 'question.ask') this.ask(at, during, frame);
    if (frame.type === 'question.withdrawn') this.withdrawn(at, frame.callId);
    if (frame.type === 'question.taken') this.taken(at, frame.id);
  }

  /** Handles an approval frame from the process of the instance `at`, which runs the turn of the event `during`. */
  ask(at: AgentAddress, during: AgentEvent | undefined, frame: AskFrame): void {
    const refuse = (error: FrameError) => this.#refuse(at, frame.callId, error);
    if (during === undefined) {
      return refuse({ code: 'E_APPROVAL_REQUEST', message: 'A question to a person was asked outside of a turn.' });
    }
    const { clock, ids } = this.deps;
    const asked = { at, during, frame, now: clock.now(), mask: this.deps.maskFor(at.agentName) };
    const known = this.#all().find(({ record }) => isSameQuestion(record, asked));
    if (known !== undefined) return this.#join(known, frame.callId);
    if (this.deps.nodes !== undefined && !this.#isRead.has(addressKey(at))) {
      const fail = (error: unknown) => refuse(toFrameError(error, 'E_STORE_READ'));
      return void this.#readStored(at).then(() => this.ask(at, during, frame), fail);
    }
    const made =
      findRoomProblem(at, this.#of(at).length, this.#entries.size, questionLimits) ??
      newRecord(asked, this.#newId(ids));
    if ('code' in made) return refuse(made);
    const entry: Entry = { record: made, deadline: Infinity, frames: new Set([frame.callId]), stage: 'saving' };
    this.#entries.set(made.id, entry);
    void this.#save(entry);
  }

  /**
   * Removes a frame that the asking process no longer waits for. If it was the request's last frame, removes the
   * request.
   */
  withdrawn(at: AgentAddress, callId: string): void {
    const entry = this.#of(at).find(({ frames }) => frames.has(callId));
    entry?.frames.delete(callId);
    if (entry?.frames.size === 0) this.#drop(entry);
  }

  /** Removes an answered request, because the turn has made its answer durable. */
  taken(at: AgentAddress, id: string): void {
    const entry = this.#of(at).find(({ record }) => record.id === id);
    if (entry?.stage === 'answered' || entry?.stage === 'expired') this.#drop(entry);
  }

  /** Removes the frames of a process that has exited. */
  processGone(at: AgentAddress): void {
    for (const { frames } of this.#of(at)) frames.clear();
  }

  /** Called when this node has become the owner of the instance: its requests now expire here. */
  own(at: AgentAddress): void {
    for (const entry of this.#of(at)) if (entry.stage === 'open') this.#watchExpiry(entry);
  }

  /** Called when the instance has left this node. Its requests stay. */
  moved(at: AgentAddress): void {
    this.#isRead.delete(addressKey(at));
    this.processGone(at);
    for (const { record } of this.#of(at)) this.#timers.clear(record.id);
  }

  turnFinished(at: AgentAddress, { event }: Pick<FinishedTurn, 'event'>): void {
    this.drop(at, event.id);
  }

  /** Removes the requests of a turn that has ended, or, without an event id, those of all turns of the instance. */
  drop(at: AgentAddress, eventId?: string): void {
    for (const entry of this.#of(at)) if (eventId === undefined || entry.record.eventId === eventId) this.#drop(entry);
  }

  /** Removes the requests of turns that have ended. Called at the start. */
  dropUnless(isOpen: (at: AgentAddress, eventId: string) => boolean): void {
    for (const entry of this.#all()) {
      if (!isOpen(toAgentAddress(entry.record), entry.record.eventId)) this.#drop(entry);
    }
  }

  /**
   * Records a person's answer. Resolves with true when the answer is durable, and with false when no request with this
   * id is open or the request has expired.
   *
   * **Errors** — those of the disk; the request then stays undecided.
   */
  async decide(id: string, given: Omit<QuestionRecord['answer'] & {}, 'decidedAt'>): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry?.stage !== 'open') return false;
    if (this.#isLate(entry)) {
      this.#expire(id);
      return false;
    }
    const decidedAt = this.deps.clock.now().toISOString();
    const answer = defined({ decision: given.decision, by: given.by, note: given.note, decidedAt });
    const record = { ...entry.record, answer };
    entry.stage = 'deciding';
    let isAnswered: boolean;
    try {
      isAnswered = await this.deps.store.answer(record);
    } catch (error) {
      if (this.#entries.has(id)) this.#reopen(entry);
      else this.#removeFromDisk(entry);
      throw error;
    }
    if (!this.#entries.has(id)) {
      // The turn ended during the write.
      this.#removeFromDisk(entry);
      return false;
    }
    if (!isAnswered) {
      this.#reopen(entry);
      return false;
    }
    entry.record = record;
    this.#settle(entry, 'answered', answer);
    for (const other of this.#all())
      if (isAnsweredWith(other.record, record)) void this.#decideToo(other.record.id, given);
    return true;
  }

  /** Gives an answer to another request that it also answers. If that fails, the request stays open. */
  async #decideToo(id: string, given: Parameters<Questions['decide']>[1]): Promise<void> {
    await this.decide(id, given).catch((error: unknown) => {
      this.deps.report('warn', 'approval.not_written', `Approval ${id} stays open: ${messageOf(error)}`);
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#timers.clearAll();
  }

  /** Reads requests of a dead node that the store has not told of yet. */
  async #readStored(at: AgentAddress): Promise<void> {
    for (const record of (await this.deps.nodes?.list()) ?? []) {
      if (!this.#entries.has(record.id) && isSameAddress(toAgentAddress(record), at)) this.#add(record);
    }
    this.#isRead.add(addressKey(at));
  }

  #add(record: QuestionRecord): void {
    const entry = storedEntry(record);
    this.#entries.set(record.id, entry);
    if (entry.stage === 'open') this.#watchExpiry(entry);
  }

  /** Takes over a change that came in at another node. */
  #changed(id: string, record: QuestionRecord | undefined): void {
    const entry = this.#entries.get(id);
    // The requests of an own instance are made and removed here.
    if (entry === undefined || record === undefined) {
      const changed = record ?? entry?.record;
      if (changed === undefined || this.#isOwned(changed)) return;
      if (record === undefined) this.#entries.delete(id);
      else this.#add(record);
      return this.deps.events.waitsChanged();
    }
    if (record.answer === undefined || !isUnanswered(entry)) return;
    entry.record = record;
    // While an answer is being written here, `decide` settles the request.
    if (entry.stage === 'open') this.#settle(entry, 'answered', record.answer);
  }

  /** Opens a request again, because the answer from here was not stored. Another node may have answered it. */
  #reopen(entry: Entry): void {
    const { id, answer } = entry.record;
    entry.stage = 'open';
    if (answer !== undefined) this.#settle(entry, 'answered', answer);
    // The timer fires only once and may have fired during the write.
    else if (this.#isLate(entry)) this.#expire(id);
  }

  async #save(entry: Entry): Promise<void> {
    const { record } = entry;
    const at = toAgentAddress(record);
    try {
      await this.deps.store.put(record);
    } catch (error) {
      this.#entries.delete(record.id);
      const failure = toFrameError(error, 'E_STORE_WRITE');
      this.deps.report('error', 'approval.not_written', describeProblem(failure), subjectOf(record));
      // The tool call fails with this error, and the model gets its message.
      for (const callId of entry.frames) this.#refuse(at, callId, withoutPlace(failure));
      return;
    }
    if (!this.#entries.has(record.id)) return this.#removeFromDisk(entry);
    entry.stage = 'open';
    this.#watchExpiry(entry);
    if (!this.#isOwned(record)) return;
    const { id, toolName, reason, kind } = record;
    const waits = kind === 'budget' ? 'A model call above a budget' : toolName;
    this.deps.report('info', 'approval.asked', `${waits} waits for approval ${id}: ${reason}`, subjectOf(record));
    this.#tell(entry, 'asked');
    this.deps.events.waitsChanged();
  }

  #join(entry: Entry, callId: string): void {
    entry.frames.add(callId);
    const { answer } = entry.record;
    if (entry.stage === 'expired' || (answer !== undefined && this.#isLate(entry))) {
      return this.#answer(entry, { decision: 'expired' });
    }
    if (answer !== undefined) this.#answer(entry, answer);
  }

  #expire(id: string): void {
    const entry = this.#entries.get(id);
    if (entry?.stage !== 'open' || !this.#isOwned(entry.record)) return;
    this.#settle(entry, 'expired', { decision: 'expired' });
  }

  /** The only place that ends a request (invariant 4). */
  #settle(entry: Entry, stage: 'answered' | 'expired', outcome: ApprovalOutcome): void {
    const { id, toolName } = entry.record;
    entry.stage = stage;
    this.#timers.clear(id);
    // The owner of the asking instance is told by the store, and tells everybody else.
    if (!this.#isOwned(entry.record)) return this.deps.events.waitsChanged();
    const by = outcome.by === undefined ? '' : ` by ${outcome.by}`;
    const message = `${toolName}, approval ${id}: ${outcome.decision}${by}.`;
    this.deps.report('info', 'approval.decided', message, subjectOf(entry.record));
    this.#answer(entry, outcome);
    this.#tell(entry, 'decided', outcome);
    this.deps.events.decided(entry.record, outcome);
    this.deps.events.waitsChanged();
  }

  #answer({ record, frames }: Entry, { decision, by, note }: ApprovalOutcome): void {
    const answer = defined({ id: record.id, decision, by, note });
    for (const callId of frames) {
      this.deps.say(toAgentAddress(record), {
        type: 'question.ended',
        callId,
        outcome: { status: 'answered', answer },
      });
    }
    frames.clear();
  }

  #refuse(at: AgentAddress, callId: string, error: FrameError): void {
    this.deps.say(at, { type: 'question.ended', callId, outcome: { status: 'failed', error } });
  }

  #drop(entry: Entry): void {
    const { stage } = entry;
    this.#entries.delete(entry.record.id);
    this.#timers.clear(entry.record.id);
    // While a write is running, the writer removes the record.
    if (stage !== 'saving' && stage !== 'deciding') this.#removeFromDisk(entry);
    if (stage !== 'open' && stage !== 'deciding') return;
    this.#tell(entry, 'withdrawn');
    this.deps.events.waitsChanged();
  }

  #removeFromDisk({ record }: Entry): void {
    this.deps.store.remove(record.id).catch((error: unknown) => {
      const message = `Approval ${record.id} has ended, but stays on disk until the next start: ${messageOf(error)}`;
      this.deps.report('warn', 'approval.kept', message, subjectOf(record));
    });
  }

  #tell({ record }: Entry, state: QuestionNotice['state'], outcome?: ApprovalOutcome): void {
    this.deps.tell(() => {
      const notice = { ...noticeOf(summaryOf(record)), state };
      if (outcome === undefined) return notice;
      const { decision, by, note } = outcome;
      return { ...notice, outcome: defined({ decision, by, note }) };
    });
  }

  /** Makes a short id, because people type it. */
  #newId(ids: Ids): string {
    const id = shortHash(ids.next('approval')).slice(0, 8);
    return this.#entries.has(id) ? this.#newId(ids) : id;
  }

  #watchExpiry(entry: Entry): void {
    const { clock } = this.deps;
    const { id, expiresAt } = entry.record;
    entry.deadline = clock.elapsed() + (Date.parse(expiresAt) - clock.now().getTime());
    if (this.#isOwned(entry.record)) this.#timers.set(id, entry.deadline);
  }

  #isLate(entry: Entry): boolean {
    return isLate(entry, this.deps.clock);
  }

  #isOwned(record: Pick<QuestionRecord, 'agent' | 'instanceKey'>): boolean {
    return this.deps.nodes?.isOwned(toAgentAddress(record)) ?? true;
  }

  #of(at: AgentAddress): Entry[] {
    return this.#all().filter(({ record }) => isSameAddress(toAgentAddress(record), at));
  }

  #all(): Entry[] {
    return [...this.#entries.values()];
  }
}
