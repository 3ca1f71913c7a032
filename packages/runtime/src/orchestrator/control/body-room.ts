import { GoondanError } from '@goondan/types';

/** Bytes of all bodies that are being read: many at once must not add up to what one alone may not have. */
export class BodyRoom {
  private taken = 0;

  constructor(private readonly most: number) {}

  /** Throws `E_CONTROL_FULL` when there is no room for so many more. */
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
