/** Limits the reading rate of a channel with two token buckets, one for frames and one for bytes. */
import type { ChannelLimits } from '../limits.ts';

/** The size of a burst that is allowed after a silence: as much as arrives in this time at the full rate. */
const BURST_MS = 250;

export class ReceiveRate {
  private frames: number;
  private bytes: number;

  constructor(
    private readonly rates: Pick<ChannelLimits, 'framesPerSecond' | 'bytesPerSecond'>,
    private at: number,
  ) {
    this.frames = this.most(rates.framesPerSecond);
    this.bytes = this.most(rates.bytesPerSecond);
  }

  /** Counts a read. Returns the milliseconds to wait before the next read, usually 0. */
  take(frames: number, bytes: number, now: number): number {
    const { framesPerSecond, bytesPerSecond } = this.rates;
    const passed = Math.max(0, now - this.at);
    this.at = now;
    this.frames = Math.min(this.most(framesPerSecond), this.frames + (passed * framesPerSecond) / 1_000) - frames;
    this.bytes = Math.min(this.most(bytesPerSecond), this.bytes + (passed * bytesPerSecond) / 1_000) - bytes;
    return Math.ceil(Math.max(0, (-this.frames * 1_000) / framesPerSecond, (-this.bytes * 1_000) / bytesPerSecond));
  }

  private most(perSecond: number): number {
    return (perSecond * BURST_MS) / 1_000;
  }
}
