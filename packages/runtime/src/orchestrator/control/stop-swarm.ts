import { encodeEvent } from '@goondan/types/http';
import { operations } from '../../control/operations.ts';
import type { StopOptions } from '../../control/swarm.ts';
import { openStream } from './event-stream.ts';
import type { ControlHost } from './control-host.ts';
import { codedError, errorBody } from './refuse.ts';
import { stoppedEvent } from './watch-events.ts';

/**
 * Begins to stop the swarm, and answers before the socket is closed. A stream gets `stopping` and, when all processes
 * have exited, `stopped`. A stop is accepted even when the socket has its maximum number of open requests, because a
 * stop must always be possible.
 */
export function stopSwarm(
  host: ControlHost,
  options: StopOptions,
  { asStream, left }: { readonly asStream: boolean; readonly left: AbortSignal },
): Response {
  const stopping = operations.stop.answer.write(true);
  const stopped = host.swarm.stop(options);
  if (!asStream) {
    stopped.catch((error: unknown) => codedError(host, error, 'Stopping'));
    return Response.json(stopping);
  }
  const stream = openStream(host, left);
  const end = () => stream.end(stoppedEvent());
  stream.send(encodeEvent(stopping, 'stopping'));
  stopped.then(end, (error: unknown) =>
    stream.end(encodeEvent(errorBody(codedError(host, error, 'Stopping')), 'error')),
  );
  stream.onOver(host.open.add(end));
  return stream.response();
}
