/**
 * Instances with an unreadable inbox. Their accepted input is unknown, so no new input is accepted before the inbox can
 * be read again. Such an instance does not start, and its callers get the reason; all other instances run.
 *
 * A damaged inbox is read again on request. An inbox that could not be read because of a disk error is also read again
 * every `READ_AGAIN_MS`, because its events were acknowledged, and perhaps no request comes.
 */
import type { AgentAddress } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Inbox } from '../../store/inbox.ts';
import { addressKey } from '../address/address-key.ts';
import type { Instances } from '../instances/instances.ts';
import { NamedTimers } from '../supervision/named-timers.ts';
import { storeProblem } from './read-pending-inputs.ts';
import { isDamage } from '../supervision/start-failure.ts';

export const READ_AGAIN_MS = 10_000;

export class UnreadInboxes {
  /** Instances by key. Their number is bounded by the folders on disk. */
  readonly #unread = new Map<string, AgentAddress>();
  readonly #timers: NamedTimers<string>;

  constructor(
    private readonly inbox: Pick<Inbox, 'pendingEntries'>,
    private readonly instances: Pick<Instances, 'post' | 'remember'>,
    private readonly clock: Clock,
  ) {
    this.#timers = new NamedTimers(clock, (key) => {
      const at = this.#unread.get(key);
      if (at !== undefined) void this.tryAgain(at);
    });
  }

  has(at: AgentAddress): boolean {
    return this.#unread.has(addressKey(at));
  }

  add(at: AgentAddress, error: FrameError): void {
    const { instances, clock } = this;
    const key = addressKey(at);
    this.#unread.set(key, at);
    instances.remember(at);
    instances.post(at, { type: 'damaged', error });
    if (isDamage(error)) this.#timers.clear(key);
    else this.#timers.set(key, clock.elapsed() + READ_AGAIN_MS);
  }

  delete(at: AgentAddress): void {
    this.#unread.delete(addressKey(at));
    this.#timers.clear(addressKey(at));
  }

  /** Stops the automatic reads. */
  close(): void {
    this.#timers.clearAll();
  }

  /** Handles a rejected event: the inbox may have been damaged while the swarm ran. */
  refused(at: AgentAddress, thrown: unknown): void {
    const problem = storeProblem(thrown);
    if (isDamage(problem)) this.add(at, problem);
  }

  /** Reads the inbox again. Never rejects; if the inbox is still unreadable, the instance reports the reason. */
  async tryAgain(at: AgentAddress): Promise<void> {
    await this.readAgain(at).catch((error: unknown) => this.add(at, storeProblem(error)));
  }

  /**
   * Reads the inbox of an instance again, if it was unreadable. **Errors** — the reason why it still cannot be read.
   */
  async readAgain(at: AgentAddress): Promise<void> {
    const { inbox, instances } = this;
    if (!this.has(at)) return;
    const entries = await inbox.pendingEntries(at);
    this.delete(at);
    instances.post(at, { type: 'forgive' });
    for (const entry of entries) instances.post(at, { type: 'work', ...entry });
  }
}
