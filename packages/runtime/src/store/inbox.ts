/** Input that was accepted for instances and is not handled yet. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { Accepted } from '../workspace/inbox/open-inbox.ts';
import type { InboxEntry } from '../workspace/inbox/inbox-line.ts';
import type { ConnectionFence } from './cluster-store.ts';

/**
 * Invariants that every inbox guarantees:
 * 1. An accepted event is durable, and stays pending until its turn is committed.
 * 2. An `event.id` is accepted once, also after its turn was committed.
 * 3. Numbers of an instance only grow. `pendingEntries` lists events in the order of their numbers.
 */
export interface Inbox {
  /**
   * Refuses an event that `accept` would refuse now: the inbox is full, or this node lost the lease of the connection. It is
   * called before the files of an event are stored, so that a refused event leaves no bytes. Nothing of the event is written.
   *
   * **Errors** — `E_INBOX_FULL`, `E_FENCED`; those of reading.
   */
  checkRoom(instance: AgentAddress, event: AgentEvent, under?: ConnectionFence): Promise<void>;
  /**
   * Accepts an event. The event is durable when the promise resolves. For a second delivery of the same id, nothing is
   * written, and the result says whether the event is still pending. `under`: accepts the event only while this node has
   * the lease of the connection; files ignore it.
   *
   * **Errors** — `E_INBOX_FULL`, `E_DISK_FULL`, `E_STORE_WRITE`, `E_FENCED`. After an error the event is not accepted.
   */
  accept(instance: AgentAddress, event: AgentEvent, under?: ConnectionFence): Promise<Accepted>;
  /**
   * Marks a pending event as cancelled, durably. `pendingEntries` and a second delivery of the event then show the mark.
   * Returns false when no pending event has this id.
   *
   * **Errors** — `E_DISK_FULL`, `E_STORE_WRITE`.
   */
  cancel(instance: AgentAddress, eventId: string, reason: string): Promise<boolean>;
  /**
   * Lists accepted events without a committed turn, oldest first, each with its number. The turn of an event has the id
   * `turn-<event id>`. A store of many nodes says how many nodes ended during it (`takeOvers`). **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`.
   */
  pendingEntries(instance: AgentAddress): Promise<readonly InboxEntry[]>;
  /**
   * Notes that an event is handled: the commit of its turn is durable. The note is a hint that saves work at the next
   * start, and is not durable itself. The commit decides. `isTaken`: true if the turn of another event has taken this
   * one; events before it may then be pending.
   */
  handled(instance: AgentAddress, eventId: string, isTaken?: boolean): void;
  /**
   * Calls the listener for an instance of this node that has input from elsewhere: another node accepted it, or the
   * instance was taken over. Returns a function that ends the calls. A store with a single node never calls it.
   */
  onWake(listener: (instance: AgentAddress) => void): () => void;
}
