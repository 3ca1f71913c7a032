import { encodeEvent, type EventStream } from '@goondan/types/http';
import type { SwarmNotice, WatchFilter } from '../../control/swarm.ts';
import { type LossyKind, lossyKindOf } from '../../ipc/codec.ts';
import type { ControlHost } from './control-host.ts';
import { greeting, openStream } from './event-stream.ts';

/** Sends every notice that matches the filter, until the reader disconnects or the swarm stops. */
export async function watchEvents(host: ControlHost, filter: WatchFilter, left: AbortSignal): Promise<Response> {
  host.checkRoom();
  const stream = openStream(host, left);
  stream.send(greeting);
  const watch = await host.swarm.watch(filter, (notice) => sendNotice(host, stream, notice));
  stream.onOver(watch.end);
  stream.onOver(host.open.add(() => stream.end(stoppedEvent())));
  return stream.response();
}

/** Sends a notice. Never throws, because it is called in the middle of the work that the notice reports. */
export function sendNotice(
  { encodeNotice, report }: ControlHost,
  stream: EventStream<LossyKind>,
  notice: SwarmNotice,
): void {
  try {
    stream.send(encodeNotice(notice), lossyKindOf(notice));
  } catch (error) {
    report(error, `A notice "${notice.type}"`);
  }
}

/** Returns the last event for a stream that was open when the swarm stopped. */
export function stoppedEvent(): Uint8Array {
  return encodeEvent({}, 'stopped');
}
