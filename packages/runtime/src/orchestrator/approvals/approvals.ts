/**
 * Tool calls that wait for the word of a person: asked by agent processes, answered by people, kept on disk in between.
 *
 * Invariants:
 * 1. Who asks is the channel: instance, event and trace come from there, and so does whose answer is taken.
 * 2. No frame decides. `decide` is called by whoever holds the swarm's control, and by nobody else.
 * 3. A question is its instance, turn, place, call and arguments. The same again, after a crash, joins the one that is
 *    there or gets its answer; anything else is another question.
 * 4. An answer is durable before anybody hears of it, counts for its one question, and goes when it is taken, when it is
 *    withdrawn, or with its turn.
 * 5. Unanswered at `expiresAt`, or answered and not fetched by then, it has expired: by the wall clock or by the clock that
 *    only grows, whichever is there first. A machine that slept is late by the first, one whose time was set back by the second.
 * 6. There are at most `mostOfAll`, and `mostOfOne` instance: the next one gets `E_APPROVALS_FULL`.
 */
import type { AgentAddress, AgentEvent, ApprovalOutcome } from '@goondan/types';
import { toAgentAddress } from '../../control/instance-address.ts';
import type { ApprovalNotice, ApprovalSummary } from '../../control/swarm.ts';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ApprovalFile } from '../../workspace/approvals/approval-file.ts';
import type { ApprovalRecord, ApprovalRecordAnswer } from '../../workspace/approvals/approval-record.ts';
import { shortHash } from '../../workspace/layout/path-segment.ts';
import { isSameAddress } from '../address/address-key.ts';
import { describeProblem } from '../supervision/describe-problem.ts';
import type { AgentFrame, FinishedTurn, Report, SwarmListener } from '../instances/swarm-listener.ts';
import { NamedTimers } from '../supervision/named-timers.ts';
import { type AskFrame, isSameQuestion, newRecord, summaryOf } from './approval-question.ts';

export interface ApprovalsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly events: Pick<Required<SwarmListener>, 'waitsChanged'>;
  readonly report: Report;
  readonly file: Pick<ApprovalFile, 'put' | 'remove' | 'records'>;
  /** To the process of that instance, if it has one. */
  say(at: AgentAddress, message: ToAgent): void;
  tell(notice: () => ApprovalNotice): void;
  /** Hides the secrets of that agent. */
  maskFor(agentName: string): (text: string) => string;
}

export const approvalLimits = { mostOfAll: 256, mostOfOne: 64 };

interface Entry {
  record: ApprovalRecord;
  /** When it expires by the clock that only grows; known once it can be answered. */
  deadline: number;
  /** The frames in the asking process that wait for it: none while that process is down. */
  readonly frames: Set<string>;
  /** `saving`: not yet on disk. `open`: people may see it. `deciding`: an answer is on its way to the disk. */
  stage: 'saving' | 'open' | 'deciding' | 'answered' | 'expired';
}

export class Approvals implements SwarmListener {
  readonly #deps: ApprovalsDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #timers: NamedTimers<string>;

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
    this.#timers = new NamedTimers(deps.clock, (id) => this.#expire(id));
    for (const record of deps.file.records) {
      const stage = record.answer === undefined ? 'open' : 'answered';
      const entry: Entry = { record, deadline: Infinity, frames: new Set(), stage };
      this.#entries.set(record.id, entry);
      if (stage === 'open') this.#watchExpiry(entry);
    }
  }

  /** What people can answer now, oldest first. */
  pending(): readonly ApprovalSummary[] {
    const open = this.#all().filter(({ stage }) => stage === 'open');
    for (const entry of open) if (this.#isLate(entry)) this.#expire(entry.record.id);
    return open.filter(({ stage }) => stage === 'open').map(({ record }) => summaryOf(record));
  }

  /** How many questions of that instance wait for an answer. */
  countPending(at: AgentAddress): number {
    return this.#of(at).filter(({ stage }) => stage === 'open' || stage === 'deciding').length;
  }

  /** The instances that wait for a person. */
  asking(): readonly AgentAddress[] {
    return this.#all()
      .filter(({ stage }) => stage === 'open' || stage === 'deciding')
      .map(({ record }) => toAgentAddress(record));
  }

  heard(at: AgentAddress, frame: AgentFrame, during: AgentEvent | undefined): void {
    if (frame.type === 'approval.ask') this.ask(at, during, frame);
    if (frame.type === 'approval.withdrawn') this.withdrawn(at, frame.callId);
    if (frame.type === 'approval.taken') this.taken(at, frame.id);
  }

  /** A frame from the process of `at`, where the turn of `during` runs. */
  ask(at: AgentAddress, during: AgentEvent | undefined, frame: AskFrame): void {
    const refuse = (error: FrameError) => this.#refuse(at, frame.callId, error);
    if (during === undefined) {
      return refuse({ code: 'E_APPROVAL_REQUEST', message: 'A question to a person outside of any turn.' });
    }
    const { clock, ids } = this.#deps;
    const asked = { at, during, frame, now: clock.now(), mask: this.#deps.maskFor(at.agentName) };
    const known = this.#all().find(({ record }) => isSameQuestion(record, asked));
    if (known !== undefined) return this.#join(known, frame.callId);
    const made = this.#problemWithRoom(at) ?? newRecord(asked, this.#newId(ids));
    if ('code' in made) return refuse(made);
    const entry: Entry = { record: made, deadline: Infinity, frames: new Set([frame.callId]), stage: 'saving' };
    this.#entries.set(made.id, entry);
    void this.#save(entry);
  }

  /** The asking process no longer waits for that frame. */
  withdrawn(at: AgentAddress, callId: string): void {
    const entry = this.#of(at).find(({ frames }) => frames.has(callId));
    entry?.frames.delete(callId);
    if (entry?.frames.size === 0) this.#drop(entry);
  }

  /** The answer is on disk with the turn that asked. */
  taken(at: AgentAddress, id: string): void {
    const entry = this.#of(at).find(({ record }) => record.id === id);
    if (entry?.stage === 'answered' || entry?.stage === 'expired') this.#drop(entry);
  }

  /** The process of an instance is gone, and its frames with it. */
  processGone(at: AgentAddress): void {
    for (const { frames } of this.#of(at)) frames.clear();
  }

  turnFinished(at: AgentAddress, { event }: Pick<FinishedTurn, 'event'>): void {
    this.drop(at, event.id);
  }

  /** That turn is over; without an event, all turns of the instance are. */
  drop(at: AgentAddress, eventId?: string): void {
    for (const entry of this.#of(at)) if (eventId === undefined || entry.record.eventId === eventId) this.#drop(entry);
  }

  /** At the start: what belongs to no turn any more goes. */
  dropUnless(isOpen: (at: AgentAddress, eventId: string) => boolean): void {
    for (const entry of this.#all()) {
      if (!isOpen(toAgentAddress(entry.record), entry.record.eventId)) this.#drop(entry);
    }
  }

  /**
   * A person's answer. Resolves when it is durable; false when nothing waits under this id, or it has expired.
   *
   * **Errors** — those of the disk: then nothing is decided.
   */
  async decide(id: string, given: Omit<ApprovalRecordAnswer, 'decidedAt'>): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry?.stage !== 'open') return false;
    if (this.#isLate(entry)) {
      this.#expire(id);
      return false;
    }
    const decidedAt = this.#deps.clock.now().toISOString();
    const answer = defined({ decision: given.decision, by: given.by, note: given.note, decidedAt });
    const record = { ...entry.record, answer };
    entry.stage = 'deciding';
    try {
      await this.#deps.file.put(record);
    } catch (error) {
      entry.stage = 'open';
      if (!this.#entries.has(id)) this.#removeFromDisk(entry);
      // Its timer may have rung meanwhile, and rings once.
      else if (this.#isLate(entry)) this.#expire(id);
      throw error;
    }
    if (!this.#entries.has(id)) {
      // Its turn ended meanwhile.
      this.#removeFromDisk(entry);
      return false;
    }
    entry.record = record;
    this.#settle(entry, 'answered', answer);
    return true;
  }

  close(): void {
    this.#timers.clearAll();
  }

  async #save(entry: Entry): Promise<void> {
    const { record } = entry;
    const at = toAgentAddress(record);
    try {
      await this.#deps.file.put(record);
    } catch (error) {
      this.#entries.delete(record.id);
      const failure = toFrameError(error, 'E_STORE_WRITE');
      this.#deps.report('error', 'approval.not_written', describeProblem(failure), at);
      // The tool call ends with it, and its model reads why.
      for (const callId of entry.frames) this.#refuse(at, callId, withoutPlace(failure));
      return;
    }
    if (!this.#entries.has(record.id)) return this.#removeFromDisk(entry);
    entry.stage = 'open';
    this.#watchExpiry(entry);
    const { id, toolName, reason } = record;
    this.#deps.report('info', 'approval.asked', `${toolName} waits for approval ${id}: ${reason}`, at);
    this.#tell(entry, 'asked');
    this.#deps.events.waitsChanged();
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
    if (entry?.stage === 'open') this.#settle(entry, 'expired', { decision: 'expired' });
  }

  /** Invariant 4: the one end of a question. */
  #settle(entry: Entry, stage: 'answered' | 'expired', outcome: ApprovalOutcome): void {
    const { id, toolName } = entry.record;
    entry.stage = stage;
    this.#timers.clear(id);
    const by = outcome.by === undefined ? '' : ` by ${outcome.by}`;
    const message = `${toolName}, approval ${id}: ${outcome.decision}${by}.`;
    this.#deps.report('info', 'approval.decided', message, toAgentAddress(entry.record));
    this.#answer(entry, outcome);
    this.#tell(entry, 'decided', outcome);
    this.#deps.events.waitsChanged();
  }

  #answer({ record, frames }: Entry, { decision, by, note }: ApprovalOutcome): void {
    const answer = defined({ id: record.id, decision, by, note });
    for (const callId of frames) {
      this.#deps.say(toAgentAddress(record), {
        type: 'approval.ended',
        callId,
        outcome: { status: 'answered', answer },
      });
    }
    frames.clear();
  }

  #refuse(at: AgentAddress, callId: string, error: FrameError): void {
    this.#deps.say(at, { type: 'approval.ended', callId, outcome: { status: 'failed', error } });
  }

  #drop(entry: Entry): void {
    const { stage } = entry;
    this.#entries.delete(entry.record.id);
    this.#timers.clear(entry.record.id);
    // While it is being written: whoever does that takes it away again.
    if (stage !== 'saving' && stage !== 'deciding') this.#removeFromDisk(entry);
    if (stage !== 'open' && stage !== 'deciding') return;
    this.#tell(entry, 'withdrawn');
    this.#deps.events.waitsChanged();
  }

  #removeFromDisk({ record }: Entry): void {
    this.#deps.file.remove(record.id).catch((error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error);
      const message = `Approval ${record.id} is over, but stays on disk until the next start: ${problem}`;
      this.#deps.report('warn', 'approval.kept', message, toAgentAddress(record));
    });
  }

  #tell({ record }: Entry, state: ApprovalNotice['state'], outcome?: ApprovalOutcome): void {
    this.#deps.tell(() => {
      const { agent, instanceKey } = record;
      const notice = { type: 'approval', state, at: { agent, instanceKey }, approval: summaryOf(record) } as const;
      if (outcome === undefined) return notice;
      const { decision, by, note } = outcome;
      return { ...notice, outcome: defined({ decision, by, note }) };
    });
  }

  #problemWithRoom(at: AgentAddress): FrameError | undefined {
    const own = this.#of(at).length;
    const { mostOfAll, mostOfOne } = approvalLimits;
    if (own >= mostOfOne) {
      return {
        code: 'E_APPROVALS_FULL',
        message: `${own} calls of agent "${at.agentName}" wait for a person already.`,
      };
    }
    if (this.#entries.size < mostOfAll) return undefined;
    return { code: 'E_APPROVALS_FULL', message: `${this.#entries.size} calls wait for a person already.` };
  }

  /** Short, because people type it. */
  #newId(ids: Ids): string {
    const id = shortHash(ids.next('approval')).slice(0, 8);
    return this.#entries.has(id) ? this.#newId(ids) : id;
  }

  #watchExpiry(entry: Entry): void {
    const { clock } = this.#deps;
    const { id, expiresAt } = entry.record;
    entry.deadline = clock.elapsed() + (Date.parse(expiresAt) - clock.now().getTime());
    this.#timers.set(id, entry.deadline);
  }

  /** The timer may not have told yet: timers stand still while a machine sleeps. */
  #isLate({ record, deadline }: Entry): boolean {
    const { clock } = this.#deps;
    return clock.now().getTime() >= Date.parse(record.expiresAt) || clock.elapsed() >= deadline;
  }

  #of(at: AgentAddress): Entry[] {
    return this.#all().filter(({ record }) => isSameAddress(toAgentAddress(record), at));
  }

  #all(): Entry[] {
    return [...this.#entries.values()];
  }
}
