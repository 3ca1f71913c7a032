/**
 * Writes extension states that were set outside a turn: soon after the change, before the next turn opens, and before
 * the agent ends. While a turn runs, nothing is written here: the turn's records and its commit include the states set
 * during it.
 *
 * 1. Each write contains all current states, and only one write runs at a time. Writes are not queued.
 * 2. A failed write is retried with backoff, until a write or the commit of a turn succeeds.
 * 3. If states are given up, the log names their extensions.
 */
import { type AgentAddress, GoondanError, type JsonObject } from '@goondan/types';
import { messageOf } from '../../ipc/check/frame-error.ts';
import { type Clock, sleep } from '../../ports/clock.ts';
import type { LogLevel } from '../../ports/log-line.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { ExtensionStates } from './extension-states.ts';

/** The delay between the first change and the write, short enough that a change is on disk within two seconds. */
const SAVE_AFTER_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** The number of attempts to write the states before the agent ends. */
const LAST_ATTEMPTS = 4;
const LAST_WAIT_MS = 250;

export class SaveStates {
  #isInTurn = false;
  #isClosed = false;
  #saving: Promise<boolean> | undefined;
  #callOff: (() => void) | undefined;
  /** The number of failures in a row. */
  #failures = 0;
  /** States whose write failed on disk, so that it is unknown whether they are committed. */
  #uncertain: Readonly<JsonObject> | undefined;

  constructor(
    private readonly states: ExtensionStates,
    private readonly clock: Clock,
    private readonly store: Pick<ConversationStore, 'commitStates' | 'read'>,
    private readonly address: AgentAddress,
    private readonly log: (level: LogLevel, message: string) => void,
  ) {
    states.onSet = () => this.#schedule();
  }

  /** Writes the states that were set before the turn. Call it before a turn opens. Never rejects. */
  async beginTurn(): Promise<void> {
    await this.flush();
    this.#isInTurn = true;
    this.#unschedule();
  }

  /** Called when a turn is over, committed or not. */
  endTurn(): void {
    this.#isInTurn = false;
    if (!this.states.isUnsaved) this.#failures = 0;
    this.#schedule();
  }

  /**
   * Writes unsaved states. Resolves with true when all states are written. During a turn, writes nothing and resolves
   * with true, because the commit of the turn includes the states. Never rejects.
   */
  async flush(): Promise<boolean> {
    if (this.#isInTurn) return true;
    if (this.#saving) await this.#saving;
    return this.#isClosed || !this.#isUnsaved || this.#save();
  }

  /**
   * Writes unsaved states: tries up to 4 times, for at most `graceMs`. After that, nothing more is written. Never
   * rejects.
   */
  async close(graceMs: number): Promise<void> {
    const { clock } = this;
    const startedAt = clock.elapsed();
    for (let attempt = 1; !(await this.flush()); attempt += 1) {
      if (attempt >= LAST_ATTEMPTS || clock.elapsed() - startedAt + LAST_WAIT_MS > graceMs) break;
      await sleep(clock, LAST_WAIT_MS);
    }
    this.#isClosed = true;
    this.#unschedule();
    if (!this.#isInTurn && this.states.isUnsaved) this.#giveUp('the agent ends');
  }

  #schedule(): void {
    const isDue = !this.#isInTurn && !this.#isClosed && this.#isUnsaved;
    if (!isDue || this.#callOff !== undefined) return;
    const waitMs = Math.min(LONGEST_WAIT_MS, SAVE_AFTER_MS * 2 ** this.#failures);
    this.#callOff = this.clock.after(waitMs, () => {
      this.#callOff = undefined;
      void this.flush();
    });
  }

  /**
   * True when another write is needed. After a failed write it is unknown whether the states were committed, so they
   * are written again even if unchanged.
   */
  get #isUnsaved(): boolean {
    return this.#failures > 0 || this.states.isUnsaved;
  }

  #unschedule(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #save(): Promise<boolean> {
    this.#saving ??= this.#write().finally(() => {
      this.#saving = undefined;
      this.#schedule();
    });
    return this.#saving;
  }

  async #write(): Promise<boolean> {
    const { states } = this;
    const snapshot = states.snapshot();
    try {
      await this.#commit(snapshot);
      states.saved(snapshot);
      this.#failures = 0;
      return true;
    } catch (error) {
      const code = GoondanError.is(error) ? error.code : undefined;
      // With these codes the store rejected the commit without writing anything.
      if (code === 'E_FENCED' || code === 'E_STORE_ORDER') this.#uncertain = undefined;
      if (code === 'E_FENCED') {
        this.#giveUp('another process has written newer ones');
        states.saved(snapshot);
        this.#failures = 0;
        return true;
      }
      // A turn of an earlier process is still open; its commit will include the states.
      if (code === 'E_STORE_ORDER') return false;
      // Logged only when writing starts to fail, not for each failure.
      if (this.#failures === 0) this.log('warn', `Extension states cannot be written yet: ${messageOf(error)}`);
      this.#failures = Math.min(this.#failures + 1, 16);
      return false;
    }
  }

  /**
   * Commits the states on top of the last commit known to this agent. A write that failed on disk may still have been
   * committed: the next attempt finds that commit in the store and continues from it.
   */
  async #commit(snapshot: Readonly<JsonObject>): Promise<void> {
    const { states, store, address } = this;
    if (this.#uncertain !== undefined) {
      const { stateVersion, extensionState } = await store.read(address);
      const isOurs = JSON.stringify(extensionState) === JSON.stringify(this.#uncertain);
      if (isOurs && stateVersion === states.version + 1) states.version = stateVersion;
    }
    this.#uncertain = snapshot;
    states.version = await store.commitStates(address, states.version, snapshot);
    this.#uncertain = undefined;
  }

  #giveUp(reason: string): void {
    const names = this.states.unsaved.join(', ');
    this.log('error', `States that were set outside a turn are lost (${names}): ${reason}.`);
  }
}
