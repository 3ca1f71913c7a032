import { GoondanError } from '@goondan/types';

/** Bounds the total size of all request bodies that are being read. */
export class BodyRoom {
  private taken = 0;

  constructor(private readonly most: () => number) {}

  /** Reserves this number of bytes. Throws `E_CONTROL_FULL` when fewer bytes are left. */
  take(bytes: number): void {
    if (this.taken + bytes > this.most()) {
      throw new GoondanError('E_CONTROL_FULL', `Requests of ${this.most()} bytes are being read.`, { retryable: true });
    }
    this.taken += bytes;
  }

  give(bytes: number): void {
    this.taken -= bytes;
  }
}
