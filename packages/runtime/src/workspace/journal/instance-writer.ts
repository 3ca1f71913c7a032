/**
 * The only writer of one instance. It implements `open`, `append` and `commit` of a conversation store, over the place
 * where the instance is kept.
 *
 * Invariants: 1. A record survives a kill when `append` resolves. Before anything outside depends on a record, it also
 * survives a power loss (`mustBeDurable`). 2. A commit is one frame of the log; it is durable, with everything before it,
 * when `commit` resolves. 3. Events are handled in the order of acceptance. 4. A writer with an old epoch, or that does not
 * own the instance any more, changes nothing. 5. Neither `append` nor `commit` does work that grows with the history.
 */
import { GoondanError, type JsonValue, type Message, type TurnResult } from '@goondan/types';
import type {
  BaseDelta,
  ConversationSnapshot,
  OpenTurn,
  TurnInput,
  TurnRecord,
  UnwrittenRecords,
} from '../../agent/conversation/conversation-store.ts';
import { eventIdOf, turnIdOf } from '../../ports/ids.ts';
import { shortTurnId } from '../../ports/turn-ids.ts';
import type { QueueEntry } from '../lines/durable-queue.ts';
import { FailStop } from '../lines/fail-stop.ts';
import { parseExtensions } from '../records/extension-files.ts';
import type { CommitEntry } from '../records/frame.ts';
import { finishedUsage, type HandledNumbers, type LogState } from '../records/log-state.ts';
import { type LoggedRecord, numberRecords } from '../records/logged-record.ts';
import { shortenRecords } from '../records/short-record.ts';
import { takenBy } from '../records/taken-by.ts';
import type { InstancePlace, StateTexts } from './instance-place.ts';
import { mustBeDurable } from './must-be-durable.ts';
import { planLetter } from './plan-letter.ts';
import { forgottenTurn, outOfOrder, refuseFullOutbox, refuseGap, refuseOutOfOrder } from './turn-refusals.ts';
import { planCommit, planDropped, planStates, type StatesPlan } from './plan-commit.ts';

export interface WriterOptions {
  /** Returns a higher epoch at each call. */
  readonly nextEpoch: () => number;
  readonly onCommit: () => void;
}

interface RunOfTurn {
  readonly turnId: string;
  readonly epoch: number;
  readonly entry: TurnInput | undefined;
  /** True once a frame of this run is written. */
  hasFrame?: true;
}

export class InstanceWriter {
  readonly #serial: FailStop;
  readonly #nextEpoch: () => number;
  readonly #onCommit: () => void;
  #texts: StateTexts;
  /** The running turn, and its event if the event came through the inbox. */
  #turn: RunOfTurn | undefined;

  constructor(
    private readonly place: InstancePlace,
    { nextEpoch, onCommit }: WriterOptions,
  ) {
    this.#serial = new FailStop(place.name);
    this.#nextEpoch = nextEpoch;
    this.#onCommit = onCommit;
    this.#texts = place.texts;
  }

  /** True after a disk error: every call is rejected until the writer is loaded again. */
  get failed(): boolean {
    return this.#serial.failed;
  }

  /** `entry`: the event of the turn, if it came through the inbox. */
  open(turnId: string, entry?: TurnInput): Promise<OpenTurn> {
    // Opening a turn writes nothing, except in the two cases that look at the lock first.
    return this.#serial.run(async () => {
      const finished = this.place.finished.get(turnId);
      if (finished) {
        // An earlier delivery of the event has a committed turn, so this delivery is marked as handled without another
        // turn.
        if (entry && !this.#state.isHandled(entry.seq)) {
          this.#refuseOthers();
          await this.#commitAlone({ inbox: entry.seq });
        }
        const usage = this.place.finished.usageOf(turnId);
        const finishedAlso = this.place.finished.alsoOf(turnId).map(eventIdOf);
        const opened = { ...this.#openTurn(this.#nextEpoch(), []), finished, finishedAlso };
        return { ...opened, ...(usage && { finishedUsage: usage }) };
      }
      if (entry && this.#state.isHandled(entry.seq)) throw forgottenTurn(turnId);
      const { turnId: interrupted } = this.#state.open;
      refuseOutOfOrder(turnId, this.#state);
      refuseFullOutbox(this.place, this.#state);
      if (interrupted !== undefined && interrupted !== turnId) await this.#dropTurn(interrupted);
      this.#turn = { turnId, epoch: this.#nextEpoch(), entry };
      return this.#openTurn(this.#turn.epoch, this.#state.open.log);
    });
  }

  append(epoch: number, at: number, records: readonly TurnRecord[]): Promise<void> {
    return this.#run(() => {
      const { turnId } = this.#running(epoch);
      refuseGap(turnId, this.#state.open.log.length, at);
      if (records.length > 0) return this.#appendRecords(turnId, records, mustBeDurable(records));
    });
  }

  commit(
    epoch: number,
    turnId: string,
    delta: BaseDelta,
    extensionState: Readonly<Record<string, JsonValue>>,
    result: TurnResult,
    rest?: UnwrittenRecords,
  ): Promise<void> {
    return this.#run(async () => {
      const { turnId: running, entry } = this.#running(epoch);
      if (running !== turnId) throw outOfOrder(`Turn ${turnId} is not the running one, which is ${running}`);
      const { at, records } = rest ?? { at: this.#state.open.log.length, records: [] };
      refuseGap(turnId, this.#state.open.log.length, at);
      const log = [...this.#state.open.log, ...this.#number(records)];
      const states = this.#planStates(extensionState, this.#state.statesAlone.unarchived);
      const commit = planCommit(this.#state, { log, delta, states, result, entry });
      const isLetter = result.error?.code === 'E_DEAD_LETTER' && entry;
      const taken = takenBy(log);
      const givenUp = isLetter && {
        event: entry.event,
        taken: taken.map(({ event }) => event),
        reason: result.error?.message ?? '',
      };
      const letter = givenUp ? planLetter(this.place, this.#state, givenUp) : {};
      await this.#commitTurn(turnId, { ...commit, ...letter }, states, records);
      this.#turn = undefined;
      const usage = finishedUsage(commit);
      for (const { event } of taken) this.place.finished.add(turnIdOf(event.id), result, usage);
      this.place.finished.add(turnId, result, usage);
      this.#maintainSoon();
    });
  }

  /**
   * Commits extension states without a turn. Writes nothing when they equal the committed states.
   *
   * **Errors** — `E_FENCED` when another commit came after `stateVersion`, `E_STORE_ORDER` while a turn is running.
   */
  commitStates(stateVersion: number, given: Readonly<Record<string, JsonValue>>): Promise<number> {
    return this.#run(async () => {
      this.refuseInTurn('commit states');
      const { stateVersion: newest } = this.#state;
      if (newest !== stateVersion) {
        const { name } = this.place;
        throw new GoondanError('E_FENCED', `${name} is at state ${newest}; this writer knows ${stateVersion}`);
      }
      const plan = this.#planStates(given);
      const { changes: states } = plan;
      if (states) await this.#commitWithStates(plan, () => this.#commitAlone({ states }));
      return this.#state.stateVersion;
    });
  }

  /**
   * Resets the conversation. Does nothing when the conversation is empty. `ending`: called first, unless a turn is running.
   *
   * **Errors** — `E_STORE_ORDER` while a turn is running; `E_STORE_WRITE`; those of `ending`.
   */
  async reset(ending?: () => Promise<void>): Promise<void> {
    this.refuseInTurn('start over');
    await ending?.();
    return this.#run(async () => {
      this.refuseInTurn('start over');
      const { messages, version, open } = this.#state;
      if (messages === 0 && this.#texts.size === 0 && open.log.length === 0) return;
      const states = planStates(this.#texts, {}, this.#state.statesAlone.unarchived);
      const record = { type: 'message', event: { type: 'truncate' }, author: { kind: 'runtime' } } as const;
      const turnId = `reset-${version + 1}`;
      const log = this.#number([record]);
      const delta = { type: 'rewrite', messages: [] } as const;
      const commit = planCommit(this.#state, { log, ended: open.log, delta, states, result: 'reset' });
      await this.#commitTurn(turnId, commit, states, [record]);
      this.#maintainSoon();
    });
  }

  /** Throws while a turn is running. **Errors** — `E_STORE_ORDER`. */
  refuseInTurn(what: string): void {
    if (this.#turn)
      throw outOfOrder(`Turn ${this.#turn.turnId} is running: a conversation can ${what} only between turns`);
  }

  snapshot(): Promise<ConversationSnapshot> {
    return this.#serial.run(async () => ({
      version: this.#state.version,
      stateVersion: this.#state.stateVersion,
      messages: await this.place.readBase(),
      extensionState: parseExtensions(this.#texts),
    }));
  }

  /** How far the input is handled. The commits are durable. */
  get handled(): HandledNumbers {
    return { handled: this.#state.inbox, taken: this.#state.taken };
  }

  /** Lists the answers that were not fetched yet, oldest first. */
  answers(): Promise<readonly QueueEntry[]> {
    return this.#serial.run(async () => this.#state.answerEntries);
  }

  /**
   * Adds an answer, which is durable when the promise resolves. Does nothing when there is or recently was an answer with
   * this key. **Errors** — `E_OUTBOX_FULL`.
   */
  addAnswer(key: string, value: JsonValue): Promise<void> {
    return this.#run(async () => {
      refuseFullOutbox(this.place, this.#state);
      if (this.#state.answers.has(key) || this.#state.answersRemoved.includes(key)) return;
      await this.#commitAlone({ answers: { added: [{ key, value }] } });
    });
  }

  removeAnswer(key: string): Promise<void> {
    return this.#run(async () => {
      if (this.#state.answers.has(key)) await this.#commitAlone({ answers: { removed: [key] } });
    });
  }

  letters(): Promise<readonly QueueEntry[]> {
    return this.#serial.run(async () => this.#state.letterEntries);
  }

  removeLetter(eventId: string): Promise<void> {
    return this.#run(async () => {
      if (this.#state.letters.has(eventId)) await this.#commitAlone({ lettersRemoved: [eventId] });
    });
  }

  /** Runs an action that reads the place, while nothing is written. */
  between<T>(action: () => Promise<T>): Promise<T> {
    return this.#serial.run(action);
  }

  /** Resolves when everything that was started has ended, also the work between turns. Never rejects. */
  settle(): Promise<void> {
    return this.#serial.settle();
  }

  /** Does the last work of this owner and closes the log. If that work fails, the next owner does it. */
  async close(): Promise<void> {
    await this.#run(() => this.place.finish(this.#texts)).catch(() => undefined);
    await this.#serial.settle();
    await this.place.log.close();
  }

  get #state(): LogState {
    return this.place.state;
  }

  #run<T>(action: () => Promise<T> | T): Promise<T> {
    return this.#serial.run(() => {
      this.#refuseOthers();
      return action();
    });
  }

  #refuseOthers(): void {
    if (this.place.isHeld()) return;
    throw new GoondanError('E_FENCED', `Another process took over ${this.place.name}`);
  }

  #planStates(states: Readonly<Record<string, JsonValue>>, also?: readonly string[]): StatesPlan {
    return planStates(this.#texts, states, also, this.place.longestState);
  }

  #running(epoch: number) {
    if (!this.#turn) throw outOfOrder('No turn is open: the last one was committed, or none was opened');
    if (this.#turn.epoch === epoch) return this.#turn;
    throw new GoondanError('E_FENCED', `Turn ${this.#turn.turnId} was opened again since; this writer is an older one`);
  }

  /**
   * Drops the records of an interrupted turn whose event is not in the inbox. Such an event was never acknowledged, and no
   * process will resume the turn.
   */
  async #dropTurn(turnId: string): Promise<void> {
    this.#refuseOthers();
    await this.#commitAlone({ drops: turnId, ...planDropped(this.#state.open.log) });
    const message = `dropped turn ${shortTurnId(turnId)}, which had been interrupted and was not resumed`;
    this.place.warn('log', message);
  }

  #number(records: readonly TurnRecord[]): LoggedRecord[] {
    return numberRecords(records, this.#state.seq + 1, this.place.clock.now().getTime());
  }

  #openTurn(epoch: number, log: readonly LoggedRecord[]): OpenTurn {
    const { version, stateVersion, open } = this.#state;
    const movedFrom = log.length === 0 ? undefined : open.lastNodeBut(this.place.node);
    return {
      epoch,
      version,
      stateVersion,
      loadBase: () => this.#loadBase(version),
      log: log.map(({ record }) => record),
      ...(movedFrom && { movedFrom: movedFrom.name }),
      isHandled: ({ seq, event }) => this.#state.isHandled(seq) || this.place.finished.has(turnIdOf(event.id)),
      extensionState: parseExtensions(this.#texts),
    };
  }

  #loadBase(version: number): Promise<readonly Message[]> {
    return this.#serial.run(async () => {
      if (version === this.#state.version) return this.place.readBase();
      throw outOfOrder(`The base of version ${version} is gone: version ${this.#state.version} is committed`);
    });
  }

  /** Appends records, and with `commit` commits their turn. */
  async #appendRecords(
    turn: string,
    records: readonly TurnRecord[],
    isDurable: boolean,
    commit?: CommitEntry,
  ): Promise<void> {
    const { log, state, clock } = this.place;
    const at = clock.now().getTime();
    const texts = shortenRecords(records, state.open.contextOf(turn));
    const run = this.#turn?.turnId === turn ? this.#turn : undefined;
    const input = state.open.turnId === turn ? undefined : run?.entry?.seq;
    const node = run?.hasFrame === true ? undefined : run && this.place.node;
    const begun = { ...(input !== undefined && { input }), ...(node && { node }) };
    const frame = { turn, at, ...begun, ...(commit && { commit }) };
    const logged = numberRecords(records, state.seq + 1, at);
    const event = commit?.replyTo && this.#turn?.entry?.event;
    await log.append(frame, texts, isDurable, event && { event, records: logged });
    if (run) run.hasFrame = true;
    state.seq = log.last;
    const committed = state.open.addRecords(turn, at, logged, commit, begun);
    if (commit) state.applyCommit(commit, committed);
    if (committed) this.place.follow?.(committed);
  }

  #commitTurn(turnId: string, commit: CommitEntry, states: StatesPlan, records: readonly TurnRecord[]): Promise<void> {
    return this.#commitWithStates(states, () => this.#appendRecords(turnId, records, true, commit));
  }

  /** Commits changes that are not part of a turn. */
  async #commitAlone(commit: CommitEntry): Promise<void> {
    const { log, state, clock } = this.place;
    const at = clock.now().getTime();
    await log.append({ at, commit }, [], true);
    state.seq = log.last;
    if (commit.drops !== undefined) state.open.clear();
    state.applyCommit(commit, undefined);
    this.#maintainSoon();
  }

  /** Writes long states before the commit, and puts them in place after it. */
  async #commitWithStates({ texts, long }: StatesPlan, commit: () => Promise<void>): Promise<void> {
    if (long.length > 0) await this.place.prepareStates(texts, long);
    await commit();
    this.#texts = texts;
    if (long.length > 0) await this.#apply(() => this.place.placeStates(long));
  }

  /** Starts the work that is due between turns, without keeping the caller waiting. */
  #maintainSoon(): void {
    this.#onCommit();
    if (!this.place.isDue) return;
    void this.#run(() => this.#apply(() => this.place.maintain(this.#texts))).catch(() => undefined);
  }

  /**
   * Runs an action after the commit. If the action fails, the commit stays valid. The next turn is then rejected, and
   * recovery finishes the action.
   */
  async #apply(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#serial.stop(error);
      const reason = error instanceof Error ? error.message : String(error);
      this.place.warn('instance', `committed, but not yet put in place: ${reason}`);
    }
  }
}
