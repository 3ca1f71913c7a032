import { GoondanError } from '@goondan/types';
import { defined } from '../json/defined.ts';
import { callSocket, openStream } from './call-socket.ts';
import type { ControlSocket } from './control-socket.ts';
import { isNotice, swarmNotice } from './check-answer.ts';
import { operations } from './operations.ts';
import { checkAnswer, readRefusal } from './read-answer.ts';
import type { Acceptance, AskOptions, TurnEnd } from './swarm.ts';
import type { PlainDelivery } from './typed-ask.ts';

/** Implements `Swarm.ask` over a socket. The swarm answers with a stream. */
export async function askSwarm(
  socket: ControlSocket,
  delivery: PlainDelivery,
  { signal, left, onAccepted, onCancelled, onNotice, cancelOnDisconnect, soFar }: AskOptions = {},
): Promise<TurnEnd> {
  if (signal?.aborted) throw new GoondanError('E_CANCELLED', 'The request was cancelled before it was sent.');
  left?.throwIfAborted();
  const request = { ...delivery, ...defined({ cancelOnDisconnect, soFar }) };
  const { events, end } = await openStream(socket, operations.ask, request);
  let accepted: Acceptance | undefined;
  const cancel = () => {
    if (accepted !== undefined) void cancelTurn(socket, accepted, onCancelled);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  left?.addEventListener('abort', end, { once: true });
  if (left?.aborted) end();
  try {
    for await (const { event, data } of events) {
      if (event === 'ended') return checkAnswer(operations.ask.answer.check, data);
      if (event === 'error') throw readRefusal(data);
      if (event === 'accepted') {
        accepted = checkAnswer(operations.deliver.answer.check, data);
        onAccepted?.(accepted);
        if (signal?.aborted) cancel();
        continue;
      }
      if (isNotice(event)) onNotice?.(checkAnswer(swarmNotice, data));
    }
    left?.throwIfAborted();
    throw new GoondanError('E_CONTROL_CLOSED', `${socket.what} stopped before the turn ended.`);
  } finally {
    signal?.removeEventListener('abort', cancel);
    left?.removeEventListener('abort', end);
    end();
  }
}

/** Requests the cancel of the turn. The end of the turn shows whether the cancel succeeded. */
async function cancelTurn(
  socket: ControlSocket,
  { agent, instanceKey, eventId }: Acceptance,
  onCancelled: (() => void) | undefined,
): Promise<void> {
  const answer = callSocket(socket, operations.cancel, { agent, instanceKey, eventId });
  await answer.then(onCancelled).catch(() => undefined);
}
