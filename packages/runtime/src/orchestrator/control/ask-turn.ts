/**
 * Sends an input and waits for its turn, in one request. The turn does not depend on the client: an accepted input is
 * handled even if the client disconnects early, unless `cancelOnDisconnect` is set.
 */
import { encodeEvent } from '@goondan/types/http';
import type { AskRequest } from '../../control/operations.ts';
import type { AskOptions, TurnEnd } from '../../control/swarm.ts';
import type { ControlHost } from './control-host.ts';
import { openStream } from './event-stream.ts';
import { socketClosed } from './open-requests.ts';
import { codedError, errorBody } from './refuse.ts';
import { sendNotice } from './watch-events.ts';

/** Waits for the end of the turn. `left` aborts when the client disconnects. */
export async function askTurn(host: ControlHost, request: AskRequest, left: AbortSignal): Promise<TurnEnd> {
  host.checkRoom();
  return ask(host, request, left);
}

/**
 * Sends `accepted`, then the notices of the turn, then `ended` or `error`. A rejection before `accepted` is an ordinary
 * response.
 */
export async function streamTurn(host: ControlHost, request: AskRequest, left: AbortSignal): Promise<Response> {
  host.checkRoom();
  const stream = openStream(host, left);
  const accepted = Promise.withResolvers<void>();
  const turn = ask(host, request, left, {
    onAccepted(acceptance) {
      stream.send(encodeEvent(acceptance, 'accepted'));
      accepted.resolve();
    },
    onNotice(notice) {
      // The event `ended` has the same contents as this notice.
      if (notice.type !== 'turn.ended') sendNotice(host, stream, notice);
    },
  });
  await Promise.race([accepted.promise, turn]);

  const fail = (error: unknown) => stream.end(encodeEvent(errorBody(codedError(host, error, 'The turn')), 'error'));
  turn.then((end) => stream.end(encodeEvent(end, 'ended'))).catch(fail);
  stream.onOver(host.open.add(() => fail(socketClosed())));
  return stream.response();
}

async function ask(
  { swarm }: ControlHost,
  { cancelOnDisconnect = false, soFar = false, ...delivery }: AskRequest,
  left: AbortSignal,
  options: AskOptions = {},
): Promise<TurnEnd> {
  const cancel = new AbortController();
  const leave = () => cancel.abort();
  if (cancelOnDisconnect) left.addEventListener('abort', leave, { once: true });
  if (cancelOnDisconnect && left.aborted) leave();
  try {
    const more = { ...(soFar && { soFar }), ...(cancelOnDisconnect && { cancelOnDisconnect }) };
    return await swarm.ask(delivery, { ...options, signal: cancel.signal, ...more });
  } finally {
    left.removeEventListener('abort', leave);
  }
}
