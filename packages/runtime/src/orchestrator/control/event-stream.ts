/**
 * Sends the events of the control socket to its readers. When too many events are queued for a reader, the oldest deltas,
 * log lines and runtime events are dropped, and the reader gets their number. All other events stay queued.
 *
 * Invariant: the queues of all readers together are bounded, too. Half of `mostStreamBytes` is for events that may be
 * dropped, and each reader has an equal part of it. If the queues hold more than `mostStreamBytes`, the reader for which
 * most is queued is disconnected. So readers that do not read cannot push out one that does.
 */
import { encodeEvent, EventStream } from '@goondan/types/http';
import type { SwarmNotice } from '../../control/swarm.ts';
import { SendQueue } from '../../ipc/channel/send-queue.ts';
import type { LossyKind } from '../../ipc/codec.ts';
import type { ControlHost } from './control-host.ts';

/** The open streams of a host, with their queues. */
export type OpenStreams = Map<EventStream<LossyKind>, SendQueue>;

/** Opens a stream. `left` aborts when the client disconnects, even before it began to read. */
export function openStream(
  { limits, clock, streams }: Pick<ControlHost, 'limits' | 'clock' | 'streams'>,
  left: AbortSignal,
): EventStream<LossyKind> {
  const { stream: own, mostStreamBytes } = limits;
  const shared = {
    ...own,
    get mostLossyBytes() {
      return Math.min(own.mostLossyBytes, mostStreamBytes / 2 / Math.max(1, streams.size));
    },
  };
  const noteFor = (counts: Readonly<Record<LossyKind, number>>) =>
    encodeEvent({ type: 'dropped', count: total(counts) }, 'dropped');
  const onQueued = () => cutOffFullest(streams, mostStreamBytes);
  let queue: SendQueue | undefined;
  const stream = new EventStream<LossyKind>({
    left,
    clock,
    beatMs: limits.heartbeatMs,
    queue: (write) => (queue = new SendQueue({ limits: shared, write, noteFor, onQueued })),
  });
  if (queue !== undefined) streams.set(stream, queue);
  stream.onOver(() => streams.delete(stream));
  return stream;
}

/** Disconnects the readers for which most is queued, until all others together hold at most this number of bytes. */
function cutOffFullest(streams: OpenStreams, most: number): void {
  let held = 0;
  for (const { queuedBytes } of streams.values()) held += queuedBytes;
  while (held > most) {
    const [fullest] = [...streams].toSorted(([, left], [, right]) => right.queuedBytes - left.queuedBytes);
    if (fullest === undefined) return;
    const [stream, queue] = fullest;
    held -= queue.queuedBytes;
    stream.cutOff();
  }
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
