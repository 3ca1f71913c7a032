/**
 * Events on their way to one reader.
 *
 * 1. A slow reader costs a bounded queue and nothing more: it is given bytes when it asks for them, never before.
 * 2. Of what may be lost (deltas, log lines, runtime events) the oldest goes first, and the reader is told how many.
 * 3. What must arrive waits; when too much of it does, the reader is beyond help and its stream is closed.
 * 4. What was put into `onOver` is called once, whoever ended it: nothing is left behind for a reader who is gone.
 */
import { GoondanError } from '@goondan/types';
import type { SwarmNotice } from '../../control/swarm.ts';
import { EVENT_STREAM } from '../../control/operations.ts';
import type { LossyKind } from '../../ipc/codec.ts';
import { SendQueue } from '../../ipc/channel/send-queue.ts';
import type { DroppedCounts } from '../../ipc/from-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ControlLimits } from './control-limits.ts';

export interface EventStreamParts {
  readonly limits: Pick<ControlLimits, 'stream' | 'heartbeatMs'>;
  readonly clock: Clock;
  /** Aborts when the client is gone, also before it began to read. */
  readonly left: AbortSignal;
}

/** Bytes handed over each time the reader asks; one event may go beyond it. */
const HELPING = 65_536;

export class EventStream {
  private readonly queue: SendQueue;
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** What the reader has asked for and not got. */
  private wanted = 0;
  private state: 'open' | 'ending' | 'over' = 'open';
  private readonly whenOver: (() => void)[] = [];
  private callOffHeartbeat: () => void = () => undefined;

  constructor(private readonly parts: EventStreamParts) {
    this.queue = new SendQueue({
      limits: parts.limits.stream,
      write: (bytes) => this.write(bytes),
      noteFor: (counts) => encodeEvent('dropped', { type: 'dropped', count: total(counts) }),
    });
    const leave = () => this.leave();
    parts.left.addEventListener('abort', leave, { once: true });
    this.onOver(() => parts.left.removeEventListener('abort', leave));
    if (parts.left.aborted) leave();
  }

  /** At once when it is over already. */
  onOver(action: () => void): void {
    if (this.state === 'over') action();
    else this.whenOver.push(action);
  }

  /** Once. */
  response(): Response {
    if (this.state === 'open') this.armHeartbeat();
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
          if (this.state === 'over') controller.error(behind());
        },
        pull: () => {
          this.wanted = HELPING;
          this.queue.pump();
        },
        cancel: () => this.leave(),
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-store' } });
  }

  /** Nothing happens once the stream is ending. */
  send(bytes: Uint8Array, lossy?: LossyKind): void {
    if (this.state !== 'open') return;
    if (lossy === undefined && !this.hasRoom(bytes.length)) return this.giveUp();
    // Rejects when the reader left, which `onOver` tells.
    this.queue.push(bytes, bytes.length, lossy).catch(() => undefined);
  }

  /** The last event: the stream ends when the reader has it. */
  end(bytes: Uint8Array): void {
    this.send(bytes);
    if (this.state !== 'open') return;
    this.state = 'ending';
    this.callOffHeartbeat();
    void this.queue.empty().then(() => {
      if (this.state === 'over') return;
      this.over();
      this.controller?.close();
    });
  }

  private write(bytes: Uint8Array): number {
    if (this.state === 'over') return -1;
    if (this.wanted <= 0 || this.controller === undefined) return 0;
    this.wanted -= bytes.length;
    this.controller.enqueue(bytes);
    return bytes.length;
  }

  private hasRoom(size: number): boolean {
    try {
      this.queue.checkRoom(size);
      return true;
    } catch {
      return false;
    }
  }

  private giveUp(): void {
    this.leave();
    this.controller?.error(behind());
  }

  private leave(): void {
    this.over();
    this.queue.fail(new GoondanError('E_CONTROL_CLOSED', 'The reader left.'));
  }

  private over(): void {
    if (this.state === 'over') return;
    this.state = 'over';
    this.callOffHeartbeat();
    for (const action of this.whenOver.splice(0)) action();
  }

  /** Only for a reader who waits: others have something to read. */
  private armHeartbeat(): void {
    this.callOffHeartbeat = this.parts.clock.after(this.parts.limits.heartbeatMs, () => {
      if (this.wanted > 0) this.send(heartbeat);
      this.armHeartbeat();
    });
  }
}

export function encodeEvent(event: string, data: unknown): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The bytes of a notice, made once however many watch. */
export function noticeEncoder(): (notice: SwarmNotice) => Uint8Array {
  const encoded = new WeakMap<SwarmNotice, Uint8Array>();
  return (notice) => {
    const bytes = encoded.get(notice) ?? encodeEvent(notice.type, notice);
    encoded.set(notice, bytes);
    return bytes;
  };
}

const encoder = new TextEncoder();
/** A comment: no event, but the headers go out with it. */
export const greeting = encoder.encode(': watching\n\n');
const heartbeat = encoder.encode(':\n\n');

function behind(): Error {
  return new Error('The reader does not keep up.');
}

function total(counts: DroppedCounts): number {
  return counts.delta + counts.log + counts['runtime.event'];
}
