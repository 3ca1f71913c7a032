/**
 * Input of an instance that comes from elsewhere: another node accepted it, or this node took the instance over.
 *
 * Invariants: 1. An event whose turn ends while the inbox is being read is not queued again. 2. A cancel that came in at
 * another node reaches the queued or running turn. 3. The loss of another node is not a crash of the event whose turn it
 * interrupted.
 */
import type { AgentAddress } from '@goondan/types';
import type { Inbox } from '../../store/inbox.ts';
import { addressKey } from '../address/address-key.ts';
import type { Instances } from '../instances/instances.ts';
import type { OwnedInstances } from '../instances/owned-instances.ts';
import type { FinishedTurn, SwarmListener } from '../instances/swarm-listener.ts';
import type { Mailboxes } from './mailboxes.ts';
import { storeProblem } from './read-pending-inputs.ts';
import type { UnreadInboxes } from './unread-inboxes.ts';

export interface WokenDeps {
  readonly inbox: Pick<Inbox, 'pendingEntries'>;
  readonly owned: Pick<OwnedInstances, 'claim' | 'has' | 'queued'>;
  readonly instances: Pick<Instances, 'post' | 'remember' | 'find'>;
  readonly mailboxes: Pick<Mailboxes, 'between'>;
  readonly unread: Pick<UnreadInboxes, 'add'>;
  /** Called when the input of an own instance was read and queued. */
  inputRead(at: AgentAddress): void;
}

interface Reading {
  /** The ids of events whose turns ended during the read. */
  readonly finished: Set<string>;
  isAskedAgain: boolean;
}

export class WokenInstances implements Pick<SwarmListener, 'turnFinished' | 'inputMissed'> {
  readonly #reading = new Map<string, Reading>();

  constructor(private readonly deps: WokenDeps) {}

  /** Reads the input of an instance that the store names. Never rejects. While a read runs, further calls cause one more. */
  async wake(at: AgentAddress): Promise<void> {
    const key = addressKey(at);
    const running = this.#reading.get(key);
    if (running !== undefined) {
      running.isAskedAgain = true;
      return;
    }
    const reading: Reading = { finished: new Set(), isAskedAgain: false };
    this.#reading.set(key, reading);
    try {
      do {
        reading.isAskedAgain = false;
        await this.#take(at, reading);
      } while (reading.isAskedAgain);
    } catch (error) {
      this.deps.unread.add(at, storeProblem(error));
    } finally {
      this.#reading.delete(key);
    }
  }

  turnFinished(at: AgentAddress, { event }: FinishedTurn): void {
    this.#reading.get(addressKey(at))?.finished.add(event.id);
  }

  inputMissed(at: AgentAddress): void {
    void this.wake(at);
  }

  async #take(at: AgentAddress, { finished }: Reading): Promise<void> {
    const { owned, instances, inbox, mailboxes } = this.deps;
    if (!(await owned.claim(at))) return;
    await mailboxes.between(at, async () => {
      const entries = await inbox.pendingEntries(at);
      // Lost while the inbox was being read: another node handles the events.
      if (!owned.has(at)) return;
      instances.remember(at);
      const isNew = instances.find(at) === undefined;
      for (const [index, entry] of entries.entries()) {
        const { event, cancelled: reason } = entry;
        if (finished.has(event.id)) continue;
        const excused = isNew && index === 0 ? { isExcused: true as const } : {};
        instances.post(at, { type: 'work', ...entry, ...excused });
        if (reason !== undefined) instances.post(at, { type: 'cancel', eventId: event.id, reason });
      }
      const last = entries.at(-1);
      if (last) owned.queued(at, last.seq);
      this.deps.inputRead(at);
    });
  }
}
