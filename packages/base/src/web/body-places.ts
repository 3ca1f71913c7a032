/**
 * Places for bodies that are still arriving. A body is read before its sender is verified, so these places are separate
 * from those of requests that are being answered.
 *
 * Invariant: a body that arrives quickly is read, however many senders keep others open: when all places are taken, the
 * body that has been arriving for longest loses its place.
 */
export class BodyPlaces {
  readonly #most: number;
  readonly #checkRoom: () => void;
  /** The oldest first; each ends its reading. */
  readonly #coming = new Set<() => void>();
  #size = 0;

  /** `checkRoom` throws when no further request can be answered. */
  constructor(most: number, checkRoom: () => void) {
    this.#most = most;
    this.#checkRoom = checkRoom;
  }

  /** The number of arriving bodies. */
  get size(): number {
    return this.#size;
  }

  /** Calls `giveUp` when another body needs the place; `read` ends then. */
  async hold<Value>(giveUp: () => void, read: () => Promise<Value>): Promise<Value> {
    if (this.#coming.size >= this.#most) this.#endOldest();
    this.#coming.add(giveUp);
    this.#size += 1;
    try {
      return await read();
    } finally {
      this.#coming.delete(giveUp);
      this.#size -= 1;
    }
  }

  /** Call it when a body has arrived: from then on its request is being answered. */
  checkRoom(): void {
    this.#checkRoom();
  }

  #endOldest(): void {
    const [oldest] = this.#coming;
    if (oldest === undefined) return;
    this.#coming.delete(oldest);
    oldest();
  }
}
