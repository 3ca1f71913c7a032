/** Runs tasks of the same key one after the other, and tasks of different keys at the same time. */
export class TaskOfKey {
  readonly #last = new Map<string, Promise<unknown>>();

  run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const running = before === undefined ? task() : before.then(task, task);
    this.#last.set(key, running);
    const forget = () => {
      if (this.#last.get(key) === running) this.#last.delete(key);
    };
    running.then(forget, forget);
    return running;
  }

  /** Resolves when all tasks that were begun have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
