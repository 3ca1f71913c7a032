/** Runs an action once for all callers that ask for it together. */
export class SharedRun<Value> {
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Value> | undefined;

  constructor(private readonly action: () => Promise<Value>) {}

  /** Runs the action. Calls share a run that has not begun yet, so each caller's run begins after its call. */
  run(): Promise<Value> {
    if (this.#next) return this.#next;
    this.#next = this.#running.then(() => {
      this.#next = undefined;
      return this.action();
    });
    this.#running = this.#next.catch(() => undefined);
    return this.#next;
  }
}
