/**
 * The instances that were used lately, each with the ids of its events. An instance that has pending events, or that a call
 * is using, is not forgotten. The log of a forgotten instance has its ids.
 */
import type { StoredInstance } from '../layout/instance-paths.ts';
import type { HandledNumbers } from '../records/log-state.ts';
import type { KnownIds } from './handled-ids.ts';
import type { InstanceInbox } from './instance-inbox.ts';
import { keyOf } from './read-inbox-log.ts';

export interface UsedInbox {
  readonly inbox: InstanceInbox;
  readonly stored: StoredInstance;
  readonly handled: KnownIds;
  /** The ids of pending events, each with its number and the write of its line. */
  readonly pending: Map<string, { readonly seq: number; readonly writing?: Promise<unknown> }>;
  /** The number of calls that are using it. */
  calls: number;
}

export class UsedInboxes {
  /** The most recently used one is last. */
  readonly #used = new Map<string, UsedInbox>();
  #ids = 0;
  #hasForgotten = false;

  constructor(
    /** The most ids of handled events, of all instances together. */
    private readonly most: number,
  ) {}

  /** True if an instance was forgotten. Then any instance may have handled events of which only its log has the ids. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  find(key: string): UsedInbox | undefined {
    return this.#used.get(key);
  }

  /** Begins a call. The caller counts `calls` down when the call ends. */
  hold(key: string): UsedInbox | undefined {
    const found = this.#used.get(key);
    if (!found) return undefined;
    found.calls += 1;
    this.#used.delete(key);
    this.#used.set(key, found);
    return found;
  }

  add(key: string, used: UsedInbox): void {
    this.#used.set(key, used);
    this.#ids += used.handled.size;
    this.#forgetOldest();
  }

  /** Takes out the lines that are handled by durable commits. The ids of their events stay known. */
  settle(inbox: InstanceInbox, numbers: HandledNumbers): void {
    const ids = inbox.settle(numbers);
    const used = this.#used.get(keyOf(inbox.address));
    if (!used) return;
    const before = used.handled.size;
    used.handled.add(ids);
    for (const id of ids) used.pending.delete(id);
    this.#ids += used.handled.size - before;
    this.#forgetOldest(used);
  }

  /** Forgets a deleted instance. It has no log any more, so nothing has to be read for it. */
  drop(key: string): void {
    const used = this.#used.get(key);
    if (!used) return;
    this.#ids -= used.handled.size;
    this.#used.delete(key);
  }

  #forgetOldest(inUse?: UsedInbox): void {
    for (const [key, used] of this.#used) {
      if (this.#ids + this.#used.size <= this.most) return;
      if (used.pending.size === 0 && used.calls === 0 && used !== inUse) {
        this.drop(key);
        this.#hasForgotten = true;
      }
    }
  }
}
