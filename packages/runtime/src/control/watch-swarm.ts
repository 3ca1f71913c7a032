import { GoondanError } from '@goondan/types';
import { isNotice } from './notice-types.ts';
import { openStream, type SocketStream } from './call-socket.ts';
import type { ControlSocket } from './control-socket.ts';
import { swarmNotice } from './check-answer.ts';
import type { SwarmWatch } from './control-client.ts';
import { endpoints } from './endpoints.ts';
import { checkAnswer } from './read-answer.ts';
import type { SwarmNotice, WatchFilter } from './swarm-control.ts';

/** `SwarmControl.watch` over a socket. */
export async function watchSwarm(
  socket: ControlSocket,
  { types, soFar, ...filter }: WatchFilter,
  listener: (notice: SwarmNotice) => void,
): Promise<SwarmWatch> {
  const query = { ...filter, types: types?.join(','), soFar: soFar?.toString() };
  const stream = await openStream(socket, endpoints.events, { query });
  let hasLeft = false;
  const ended = readNotices(socket, stream, listener, () => hasLeft);
  // Whoever wants to know asks for it.
  ended.catch(() => undefined);
  return {
    ended,
    end() {
      hasLeft = true;
      stream.end();
    },
  };
}

async function readNotices(
  { what }: ControlSocket,
  { events, end }: SocketStream,
  listener: (notice: SwarmNotice) => void,
  hasLeft: () => boolean,
): Promise<void> {
  try {
    for await (const { event, data } of events) {
      if (hasLeft() || event === 'stopped') return;
      if (isNotice(event)) listener(checkAnswer(swarmNotice, data));
    }
  } finally {
    end();
  }
  if (hasLeft()) return;
  throw new GoondanError('E_CONTROL_CLOSED', `The connection to ${what} was lost.`);
}
