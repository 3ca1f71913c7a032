/**
 * The open requests and streams of each token. Tokens with open streams are checked again from time to time, and the streams
 * of a removed token are ended. While the store is away, they stay open.
 */
import type { Clock } from '../../ports/clock.ts';
import { OpenRequests } from './open-requests.ts';

export interface TokenStreamsDeps {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Returns false if the token of this header was removed. */
  readonly isRight: (header: string) => Promise<boolean>;
}

export class TokenStreams {
  readonly #open = new Map<string, OpenRequests>();
  #callOff: (() => void) | undefined;
  #isClosed = false;

  constructor(private readonly deps: TokenStreamsDeps) {}

  /** Returns the place for open requests of the token in an `Authorization` header that was admitted. */
  of(header: string): Pick<OpenRequests, 'add' | 'wait'> {
    return {
      add: (close) => this.#at(header).add(close),
      wait: (work, left) => this.#at(header).wait(work, left),
    };
  }

  /** Ends all requests, and later ones at once. */
  closeAll(): void {
    this.#isClosed = true;
    this.#callOff?.();
    for (const open of this.#open.values()) open.closeAll();
    this.#open.clear();
  }

  #at(header: string): OpenRequests {
    const open = this.#open.get(header) ?? new OpenRequests();
    if (this.#isClosed) open.closeAll();
    else this.#open.set(header, open);
    this.#arm();
    return open;
  }

  #arm(): void {
    if (this.#isClosed) return;
    this.#callOff ??= this.deps.clock.after(this.deps.everyMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    for (const [header, open] of [...this.#open]) {
      const isWanted = open.size > 0 && (await this.deps.isRight(header).catch(() => true));
      if (isWanted) continue;
      this.#open.delete(header);
      open.closeAll();
    }
    this.#callOff = undefined;
    if (this.#open.size > 0) this.#arm();
  }
}
