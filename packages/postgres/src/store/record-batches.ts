/**
 * Gathers records for people of all instances of a node, so that one statement writes many of them. No turn waits for
 * it. The callers wait for the write of their records, and so learn when it fails; a record of a failed write may be
 * stored, so nobody writes it again.
 *
 * 1. Records wait for `gatherMs`, or until `full` bytes wait.
 * 2. At most `most` bytes wait; above that, new records are refused with `E_STORE_AWAY`.
 */
import { type Clock, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

export interface RecordBatchesDeps<Item> {
  readonly write: (items: readonly Item[]) => Promise<void>;
  readonly clock?: Clock;
  readonly gatherMs?: number;
  readonly full?: number;
  readonly most?: number;
}

interface Batch<Item> {
  readonly items: Item[];
  readonly written: PromiseWithResolvers<void>;
  bytes: number;
  callOff: () => void;
}

export class RecordBatches<Item> {
  #gathering: Batch<Item> | undefined;
  #bytes = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly deps: RecordBatchesDeps<Item>) {}

  /** Resolves when the items are stored. `bytes`: about the size of the items. */
  add(items: readonly Item[], bytes: number): Promise<void> {
    const { full = 64 * 1024, most = 16 * 1024 * 1024 } = this.deps;
    if (this.#bytes + bytes > most) return Promise.reject(tooMany(this.#bytes));
    const batch = (this.#gathering ??= this.#begin());
    batch.items.push(...items);
    batch.bytes += bytes;
    this.#bytes += bytes;
    if (batch.bytes >= full) this.#flush();
    return batch.written.promise;
  }

  /** Writes the records that wait. Never rejects. */
  async close(): Promise<void> {
    this.#flush();
    await this.#last;
  }

  #begin(): Batch<Item> {
    const { clock = systemClock, gatherMs = 50 } = this.deps;
    const callOff = clock.after(gatherMs, () => this.#flush());
    return { items: [], written: Promise.withResolvers(), bytes: 0, callOff };
  }

  #flush(): void {
    const batch = this.#gathering;
    if (batch === undefined) return;
    this.#gathering = undefined;
    batch.callOff();
    this.#last = this.#last.then(() => this.#write(batch));
  }

  async #write({ items, written, bytes }: Batch<Item>): Promise<void> {
    try {
      await this.deps.write(items);
      written.resolve();
    } catch (error) {
      written.reject(error);
    } finally {
      this.#bytes -= bytes;
    }
  }
}

function tooMany(waiting: number): GoondanError {
  const message = `The database is too slow for the records of this node: ${waiting} bytes wait`;
  return new GoondanError('E_STORE_AWAY', message, { retryable: true });
}
