/** What was started is ended in the opposite order, each whatever the others do, whether it all came up or not. */
export class Endings {
  readonly #endings: (() => unknown)[] = [];

  add(end: () => unknown): void {
    this.#endings.push(end);
  }

  /** Never rejects. */
  async endAll(): Promise<void> {
    for (let end = this.#endings.pop(); end !== undefined; end = this.#endings.pop()) {
      await Promise.try(end).catch(() => undefined);
    }
  }
}
