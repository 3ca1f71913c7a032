/**
 * The instances that wait for a process, by key, in the order in which they came.
 *
 * 1. An instance whose agent is not declared is set aside until the agent is declared again.
 * 2. Instances that may share a process wait for a seat, by agent: one process serves many of them.
 */
export class WaitingLine {
  /** Instances that need a process of their own. */
  readonly #own = new Set<string>();
  /** Instances that need a seat in a shared process, by agent. */
  readonly #forSeats = new Map<string, Set<string>>();
  readonly #undeclared = new Set<string>();
  #seatsWanted = 0;

  /** The number of instances that wait, without those that are set aside. */
  get size(): number {
    return this.#own.size + this.#seatsWanted;
  }

  get own(): ReadonlySet<string> {
    return this.#own;
  }

  /** The instances that wait for a seat, by agent. */
  get forSeats(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#forSeats;
  }

  /** Lists all instances, including those that are set aside. */
  all(): string[] {
    return [...this.#undeclared, ...this.#own, ...[...this.#forSeats.values()].flatMap((keys) => [...keys])];
  }

  setAside(key: string): void {
    this.#undeclared.add(key);
  }

  enter(key: string): void {
    this.#own.add(key);
  }

  enterForSeat(key: string, agentName: string): void {
    const keys = this.#forSeats.get(agentName) ?? new Set();
    if (keys.has(key)) return;
    this.#forSeats.set(agentName, keys.add(key));
    this.#seatsWanted += 1;
  }

  /** Removes an instance. Returns true if it waited or was set aside. */
  leave(key: string, agentName: string): boolean {
    if (this.#own.delete(key) || this.#undeclared.delete(key)) return true;
    const keys = this.#forSeats.get(agentName);
    if (keys?.delete(key) !== true) return false;
    this.#seatsWanted -= 1;
    if (keys.size === 0) this.#forSeats.delete(agentName);
    return true;
  }
}
