/**
 * Reads the output of a child line by line. A child that writes too much is slowed down, because its output is not
 * buffered here: above a number of bytes per second nothing is read, and the child's writes block. Above a number of
 * lines per second, lines are dropped and counted.
 */
import { type Clock, sleep } from '../../ports/clock.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import { type CutLine, LineCutter } from './line-cutter.ts';

export const outputLimits = {
  longestLine: 8_192,
  linesPerSecond: 1_000,
  bytesPerSecond: 4_000_000,
};

/**
 * Reads one stream and reports its lines. Resolves at the end of the stream, or when `over` aborts, because a grandchild
 * may keep the stream open.
 */
export async function captureOutput(
  stream: ChildOutput['stream'],
  chunks: ReadableStream<Uint8Array<ArrayBuffer>>,
  over: AbortSignal,
  clock: Clock,
  listener: (output: ChildOutput) => void,
  limits: typeof outputLimits = outputLimits,
): Promise<void> {
  const cutter = new LineCutter(limits.longestLine);
  const second = new Second(clock, limits);
  const tellDropped = () => {
    const lines = second.takeDropped();
    if (lines > 0) listener({ kind: 'dropped', stream, lines });
  };
  const tell = (line: CutLine) => {
    if (!second.hasLines()) return second.drop(1);
    second.countLine();
    tellDropped();
    listener({ kind: 'line', stream, ...line });
  };
  const reader = chunks.getReader();
  over.addEventListener('abort', () => void reader.cancel().catch(() => undefined), { once: true });
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
    if (done || value === undefined) break;
    if (second.hasLines()) for (const line of cutter.push(value)) tell(line);
    else second.drop(cutter.skip(value));
    const waitMs = second.countBytes(value.length);
    if (waitMs > 0) await sleep(clock, waitMs, over).catch(() => undefined);
  }
  for (const line of cutter.end()) tell(line);
  tellDropped();
}

/** Counts bytes and lines of one stream within a second, and compares them with the limits. */
class Second {
  private startedAt: number;
  private lines = 0;
  private bytes = 0;
  private dropped = 0;

  constructor(
    private readonly clock: Clock,
    private readonly limits: typeof outputLimits,
  ) {
    this.startedAt = clock.elapsed();
  }

  hasLines(): boolean {
    this.renew();
    return this.lines < this.limits.linesPerSecond;
  }

  countLine(): void {
    this.lines += 1;
  }

  drop(lines: number): void {
    this.dropped += lines;
  }

  /** Counts bytes, and returns how long to wait before the next read. */
  countBytes(bytes: number): number {
    this.renew();
    this.bytes += bytes;
    if (this.bytes < this.limits.bytesPerSecond) return 0;
    return Math.max(0, Math.ceil(1_000 - (this.clock.elapsed() - this.startedAt)));
  }

  takeDropped(): number {
    const { dropped } = this;
    this.dropped = 0;
    return dropped;
  }

  private renew(): void {
    const now = this.clock.elapsed();
    if (now - this.startedAt < 1_000) return;
    this.startedAt = now;
    this.lines = 0;
    this.bytes = 0;
  }
}
