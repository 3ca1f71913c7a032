import { GoondanError } from '@goondan/types';

/** The bytes of all bodies that are being read: their sum is bounded, as each one is. */
export class BodyRoom {
  private taken = 0;

  constructor(private readonly most: number) {}

  /** Throws `E_CONTROL_FULL` when there is no room for this many more. */
  take(bytes: number): void {
    if (this.taken + bytes > this.most) {
      throw new GoondanError('E_CONTROL_FULL', `Requests of ${this.most} bytes are being read.`, { retryable: true });
    }
    this.taken += bytes;
  }

  give(bytes: number): void {
    this.taken -= bytes;
  }
}
