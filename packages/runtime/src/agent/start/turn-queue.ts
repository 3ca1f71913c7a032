import { GoondanError } from '@goondan/types';

/** Runs one turn at a time, in the order of the calls. Rejects a call when too many are queued. */
export class TurnQueue {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  constructor(private readonly most: number) {}

  run<Value>(turn: () => Promise<Value>): Promise<Value> {
    if (this.waiting >= this.most) {
      return Promise.reject(new GoondanError('E_INBOX_FULL', `${this.waiting} events are waiting already.`));
    }
    this.waiting++;
    const result = this.last.then(turn).finally(() => this.waiting--);
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when no turn is running or queued. */
  async idle(): Promise<void> {
    await this.last;
  }
}
