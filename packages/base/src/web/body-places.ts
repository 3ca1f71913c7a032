/**
 * The places for bodies that are still coming. A body is read before anybody knows whether its sender is who it says, so
 * these places are others than those of requests that are being answered.
 *
 * Invariant: a body that comes at once is read, however many senders keep others open: when all places are taken, the body
 * that has been coming for the longest time loses its place.
 */
export class BodyPlaces {
  readonly #most: number;
  readonly #checkRoom: () => void;
  /** The oldest first; each ends its reading. */
  readonly #coming = new Set<() => void>();
  #size = 0;

  /** `checkRoom` throws when no request more can be answered. */
  constructor(most: number, checkRoom: () => void) {
    this.#most = most;
    this.#checkRoom = checkRoom;
  }

  /** Bodies that are coming. */
  get size(): number {
    return this.#size;
  }

  /** `giveUp` is called when another body needs the place; `read` ends then. */
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

  /** To be asked once a body has come: from then on its request is being answered. */
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
