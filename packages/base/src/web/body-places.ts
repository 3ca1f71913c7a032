/**
 * Limits the number of request bodies that are being received. A body is read before its sender is verified, so the
 * limit for bodies is separate from the limit for requests that are being answered.
 *
 * Invariant: a body that arrives quickly is read, however many senders keep slow requests open. When all places are
 * taken, the body that has been arriving for the longest time loses its place.
 */
export class BodyPlaces {
  /** The reads in progress, oldest first. Calling an entry aborts its read. */
  readonly #coming = new Set<() => void>();
  #size = 0;

  constructor(
    private readonly most: number,
    /**
     * Throws when the server cannot answer another request. Call it when a body has arrived, before its request is
     * answered.
     */
    readonly checkRoom: () => void,
  ) {}

  /** The number of bodies that are being received. */
  get size(): number {
    return this.#size;
  }

  /** Takes a place while `read` runs. Calls `giveUp` when another body needs the place; `read` must then settle. */
  async hold<Value>(giveUp: () => void, read: () => Promise<Value>): Promise<Value> {
    if (this.#coming.size >= this.most) this.#endOldest();
    this.#coming.add(giveUp);
    this.#size += 1;
    try {
      return await read();
    } finally {
      this.#coming.delete(giveUp);
      this.#size -= 1;
    }
  }

  #endOldest(): void {
    const [oldest] = this.#coming;
    if (oldest === undefined) return;
    this.#coming.delete(oldest);
    oldest();
  }
}
