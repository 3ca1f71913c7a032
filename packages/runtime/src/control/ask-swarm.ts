import { GoondanError } from '@goondan/types';
import { callSocket, openStream } from './call-socket.ts';
import type { ControlSocket } from './control-socket.ts';
import { acceptance, cancelAnswer, swarmNotice, turnEnd } from './check-answer.ts';
import type { RemoteAskOptions } from './control-client.ts';
import { endpoints } from './endpoints.ts';
import { isNotice } from './notice-types.ts';
import { checkAnswer, readRefusal } from './read-answer.ts';
import type { Acceptance, Delivery, TurnEnd } from './swarm-control.ts';

/** `SwarmControl.ask` over a socket: a delivery that is answered as a stream. */
export async function askSwarm(
  socket: ControlSocket,
  delivery: Delivery,
  { signal, onAccepted, onCancelled, onNotice, cancelOnDisconnect = false }: RemoteAskOptions = {},
): Promise<TurnEnd> {
  if (signal?.aborted) throw new GoondanError('E_CANCELLED', 'Cancelled before it was asked.');
  const query = cancelOnDisconnect ? { cancelOnDisconnect: 'true' } : {};
  const { events, end } = await openStream(socket, endpoints.deliver, { query, body: delivery });
  let accepted: Acceptance | undefined;
  const cancel = () => {
    if (accepted !== undefined) void cancelTurn(socket, accepted, onCancelled);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    for await (const { event, data } of events) {
      if (event === 'ended') return checkAnswer(turnEnd, data);
      if (event === 'error') throw readRefusal(data);
      if (event === 'accepted') {
        accepted = checkAnswer(acceptance, data);
        onAccepted?.(accepted);
        if (signal?.aborted) cancel();
        continue;
      }
      if (isNotice(event)) onNotice?.(checkAnswer(swarmNotice, data));
    }
    throw new GoondanError('E_CONTROL_CLOSED', `${socket.what} went away before the turn ended.`);
  } finally {
    signal?.removeEventListener('abort', cancel);
    end();
  }
}

/** Whether it worked shows in how the turn ends. */
async function cancelTurn(
  socket: ControlSocket,
  { agent, instanceKey, eventId }: Acceptance,
  onCancelled: (() => void) | undefined,
): Promise<void> {
  const answer = callSocket(socket, endpoints.cancel, cancelAnswer, { body: { agent, instanceKey, eventId } });
  await answer.then(onCancelled).catch(() => undefined);
}
