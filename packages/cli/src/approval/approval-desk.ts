/**
 * Asks the person at a terminal about the tool calls that concern them, one after the other, while the desk is open.
 *
 * 1. The desk asks about one call at a time. It skips calls that were answered elsewhere or have ended.
 * 2. If the person leaves a question open, the call keeps waiting, and somebody else can answer. This desk does not ask
 *    again.
 */
import type { ApprovalSummary, Swarm } from '@goondan/runtime';
import type { ApprovalNotice } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import type { PersonAnswer } from './person-answer.ts';

export interface DeskDeps {
  readonly swarm: Pick<Swarm, 'approvals' | 'approve' | 'deny' | 'watch'>;
  /**
   * Tells whether to ask the person here about this call. When the result of `concerns` may have changed, call `look`.
   */
  readonly concerns: (approval: ApprovalSummary) => boolean;
  /**
   * Returns `undefined` when the person leaves the question open. `signal` aborts when an answer is no longer needed;
   * then the result is ignored.
   */
  readonly ask: (approval: ApprovalSummary, signal: AbortSignal) => Promise<PersonAnswer | undefined>;
  /** Prints a line about a call that this desk asked about. */
  readonly tell: (text: string) => void;
  /** Returns the name under which an answer is recorded. */
  readonly nameOfPerson: () => string;
}

export class ApprovalDesk {
  /** The tool calls that wait for an answer, by id, oldest first. */
  readonly #waiting = new Map<string, ApprovalSummary>();
  readonly #seen = new Set<string>();
  #asking: { readonly id: string; readonly over: AbortController } | undefined;
  #unwatch: () => void = () => undefined;
  #isClosed = false;

  private constructor(private readonly deps: DeskDeps) {}

  /** **Errors** — those of the swarm. */
  static async open(deps: DeskDeps): Promise<ApprovalDesk> {
    const desk = new ApprovalDesk(deps);
    const watch = await deps.swarm.watch({ types: ['approval'] }, (notice) => {
      if (notice.type === 'approval') desk.#hear(notice);
    });
    desk.#unwatch = watch.end;
    for (const approval of await deps.swarm.approvals()) desk.#waiting.set(approval.id, approval);
    desk.look();
    return desk;
  }

  /** True while a question is open. */
  get isAsking(): boolean {
    return this.#asking !== undefined;
  }

  /** Asks the next question, if none is open. Call this method when the result of `concerns` may have changed. */
  look(): void {
    if (this.#asking !== undefined || this.#isClosed) return;
    const isNext = (approval: ApprovalSummary) => !this.#seen.has(approval.id) && this.deps.concerns(approval);
    const next = [...this.#waiting.values()].find(isNext);
    if (next !== undefined) void this.#ask(next);
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    this.#asking?.over.abort();
  }

  #hear({ state, approval, outcome }: ApprovalNotice): void {
    if (state === 'asked') this.#waiting.set(approval.id, approval);
    else this.#waiting.delete(approval.id);
    if (state !== 'asked' && this.#asking?.id === approval.id) {
      this.#asking.over.abort();
      const by = outcome?.by === undefined ? '' : ` by ${outcome.by}`;
      this.deps.tell(`${approval.id} no longer needs an answer: ${outcome?.decision ?? 'its turn is over'}${by}.`);
    }
    this.look();
  }

  async #ask(approval: ApprovalSummary): Promise<void> {
    const { id } = approval;
    const over = new AbortController();
    this.#seen.add(id);
    this.#asking = { id, over };
    try {
      const answer = await this.deps.ask(approval, over.signal);
      if (over.signal.aborted || answer === undefined) return;
      // Clears the id, because the next notice about this call will report the answer of this desk.
      this.#asking = { id: '', over };
      await this.#give(approval, answer);
    } catch (error) {
      // The swarm has stopped, or the disk is full, so the call keeps waiting.
      const problem = GoondanError.is(error) ? `${error.code}: ${error.message}` : String(error);
      if (!this.#isClosed) this.deps.tell(`${id} is not answered. ${problem}`);
    } finally {
      this.#asking = undefined;
      this.look();
    }
  }

  async #give({ id, kind }: ApprovalSummary, { isApproved, note }: PersonAnswer): Promise<void> {
    const { swarm, tell, nameOfPerson } = this.deps;
    const reply = { id, by: nameOfPerson(), ...(note === undefined ? {} : { note }) };
    const isGiven = await (isApproved ? swarm.approve(reply) : swarm.deny(reply));
    if (!isGiven) tell(`${id} was already answered.`);
    else if (kind === 'change') tell(isApproved ? `${id}: the change is approved.` : `${id}: the change is denied.`);
    else if (kind === 'budget')
      tell(isApproved ? `${id}: the budget grows when the turn goes on.` : `${id}: the budget stays as it is.`);
  }
}
