/**
 * Sends the events of the control socket to one reader. When too many events are queued, the oldest deltas, log lines
 * and runtime events are dropped, and the reader gets their number. All other events stay queued.
 */
import { encodeEvent, EventStream } from '@goondan/types/http';
import type { SwarmNotice } from '../../control/swarm.ts';
import { SendQueue } from '../../ipc/channel/send-queue.ts';
import type { LossyKind } from '../../ipc/codec.ts';
import type { ControlHost } from './control-host.ts';

/** Opens a stream. `left` aborts when the client disconnects, even before it began to read. */
export function openStream(
  { limits, clock }: Pick<ControlHost, 'limits' | 'clock'>,
  left: AbortSignal,
): EventStream<LossyKind> {
  const noteFor = (counts: Readonly<Record<LossyKind, number>>) =>
    encodeEvent({ type: 'dropped', count: total(counts) }, 'dropped');
  return new EventStream({
    left,
    clock,
    beatMs: limits.heartbeatMs,
    queue: (write) => new SendQueue({ limits: limits.stream, write, noteFor }),
  });
}

/** Returns a function that encodes each notice once and reuses the bytes for all watchers. */
export function noticeEncoder(): (notice: SwarmNotice) => Uint8Array {
  const encoded = new WeakMap<SwarmNotice, Uint8Array>();
  return (notice) => {
    const bytes = encoded.get(notice) ?? encodeEvent(notice, notice.type);
    encoded.set(notice, bytes);
    return bytes;
  };
}

/** A comment line, which is not an event, but makes the server send the headers. */
export const greeting = new TextEncoder().encode(': watching\n\n');

function total(counts: Readonly<Record<LossyKind, number>>): number {
  return counts.delta + counts.log + counts['runtime.event'];
}
