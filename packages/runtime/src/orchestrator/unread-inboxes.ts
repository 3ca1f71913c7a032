/**
 * Instances whose inbox cannot be read: what they had accepted is not known here, so nothing new is accepted before it
 * can be read again. Each of them does not start, says why to whoever asks, and keeps nobody else from running.
 */
import type { AgentAddress } from '@goondan/types';
import type { FrameError } from '../ipc/check/frame-error.ts';
import type { Journal } from '../workspace/journal/journal.ts';
import { addressKey } from './address-key.ts';
import type { Instances } from './instances/instances.ts';
import { storeProblem } from './read-pending-inputs.ts';
import { isDamage } from './supervision/start-failure.ts';

export class UnreadInboxes {
  readonly #journal: Pick<Journal, 'pendingEntries'>;
  readonly #instances: Pick<Instances, 'post'>;
  readonly #remember: (at: AgentAddress) => void;
  /** By key. Bounded by the folders on disk. */
  readonly #unread = new Set<string>();

  constructor(
    journal: Pick<Journal, 'pendingEntries'>,
    instances: Pick<Instances, 'post'>,
    remember: (at: AgentAddress) => void,
  ) {
    this.#journal = journal;
    this.#instances = instances;
    this.#remember = remember;
  }

  has(at: AgentAddress): boolean {
    return this.#unread.has(addressKey(at));
  }

  add(at: AgentAddress, error: FrameError): void {
    this.#unread.add(addressKey(at));
    this.#remember(at);
    this.#instances.post(at, { type: 'damaged', error });
  }

  delete(at: AgentAddress): void {
    this.#unread.delete(addressKey(at));
  }

  /** An event for it was refused: the damage may have come while the swarm ran. */
  refused(at: AgentAddress, thrown: unknown): void {
    const problem = storeProblem(thrown);
    if (isDamage(problem)) this.add(at, problem);
  }

  /** Never rejects: the instance says itself why it still cannot be read. */
  async tryAgain(at: AgentAddress): Promise<void> {
    await this.readAgain(at).catch((error: unknown) => this.add(at, storeProblem(error)));
  }

  /** Nothing when it is none of them. **Errors** — why it still cannot be read. */
  async readAgain(at: AgentAddress): Promise<void> {
    if (!this.has(at)) return;
    const entries = await this.#journal.pendingEntries(at);
    this.delete(at);
    this.#instances.post(at, { type: 'forgive' });
    for (const entry of entries) this.#instances.post(at, { type: 'work', ...entry });
  }
}
