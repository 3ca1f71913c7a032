/**
 * Two ends of a wire in one process, for tests. Like a real wire, it is asynchronous and holds a limited number of
 * bytes.
 */
import type { OpenWire, Wire, WireEvents } from '../ipc/channel/wire.ts';

/** The maximum number of bytes between the two ends, which is about the size of a socket's buffer. */
const ROOM = 200_000;

export function memoryWires(room = ROOM): [OpenWire, OpenWire] {
  const left = new End(room);
  const right = new End(room);
  left.other = right;
  right.other = left;
  return [(events) => left.open(events), (events) => right.open(events)];
}

class End implements Wire {
  other: End | undefined;
  private events: WireEvents | undefined;
  /** Bytes on their way to this end. */
  private arriving: Uint8Array[] = [];
  private size = 0;
  private paused = false;
  private ended = false;
  private told = false;
  private otherWaits = false;

  constructor(private readonly room: number) {}

  open(events: WireEvents): Wire {
    this.events = events;
    this.schedule();
    return this;
  }

  write(bytes: Uint8Array): number {
    if (this.ended || this.other === undefined || this.other.ended) return -1;
    return this.other.take(bytes);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.schedule();
  }

  end(): void {
    this.ended = true;
    this.schedule();
    this.other?.schedule();
  }

  private take(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, this.room - this.size);
    if (taken < bytes.length) this.otherWaits = true;
    if (taken > 0) this.arriving.push(bytes.slice(0, taken));
    this.size += taken;
    this.schedule();
    return taken;
  }

  private schedule(): void {
    queueMicrotask(() => this.deliver());
  }

  private deliver(): void {
    if (this.events === undefined || this.paused || this.told) return;
    const chunks = this.arriving;
    this.arriving = [];
    this.size = 0;
    if (!this.ended && chunks.length > 0) this.events.data(Buffer.concat(chunks));
    if (this.otherWaits) {
      this.otherWaits = false;
      this.other?.events?.drain();
    }
    if (this.paused || !(this.ended || (this.other?.ended && this.arriving.length === 0))) return;
    this.told = true;
    this.events.closed();
  }
}
