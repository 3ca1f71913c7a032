/**
 * An input and what becomes of it, in one request. The turn does not hang on its reader: whoever leaves early leaves it
 * running, because what was accepted is handled; only `cancelOnDisconnect` says otherwise.
 */
import type { AskOptions, Delivery, TurnEnd } from '../../control/swarm-control.ts';
import type { ControlHost } from './control-host.ts';
import { encodeEvent, EventStream } from './event-stream.ts';
import { socketClosed } from './open-requests.ts';
import { codedError, errorBody } from './refuse.ts';
import { sendNotice } from './watch-events.ts';

export interface TurnRequest {
  readonly delivery: Delivery;
  readonly cancelOnDisconnect: boolean;
  /** Aborts when the client is gone. */
  readonly left: AbortSignal;
}

/** Waits for the end of the turn. */
export async function askTurn(host: ControlHost, request: TurnRequest): Promise<TurnEnd> {
  host.checkRoom();
  return ask(host, request);
}

/** `accepted`, the turn's notices, then `ended` or `error`. Before it is accepted, a refusal is an ordinary one. */
export async function streamTurn(host: ControlHost, request: TurnRequest): Promise<Response> {
  host.checkRoom();
  const stream = new EventStream({ ...host, left: request.left });
  const accepted = Promise.withResolvers<void>();
  const turn = ask(host, request, {
    onAccepted(acceptance) {
      stream.send(encodeEvent('accepted', acceptance));
      accepted.resolve();
    },
    onNotice(notice) {
      // `ended` says the same.
      if (notice.type !== 'turn.ended') sendNotice(host, stream, notice);
    },
  });
  await Promise.race([accepted.promise, turn]);

  const fail = (error: unknown) => stream.end(encodeEvent('error', errorBody(codedError(host, error, 'The turn'))));
  turn.then((end) => stream.end(encodeEvent('ended', end))).catch(fail);
  stream.onOver(host.open.add(() => fail(socketClosed())));
  return stream.response();
}

async function ask({ control }: ControlHost, request: TurnRequest, options: AskOptions = {}): Promise<TurnEnd> {
  const { delivery, cancelOnDisconnect, left } = request;
  const cancel = new AbortController();
  const leave = () => cancel.abort();
  if (cancelOnDisconnect) left.addEventListener('abort', leave, { once: true });
  if (cancelOnDisconnect && left.aborted) leave();
  try {
    return await control.ask(delivery, { ...options, signal: cancel.signal });
  } finally {
    left.removeEventListener('abort', leave);
  }
}
