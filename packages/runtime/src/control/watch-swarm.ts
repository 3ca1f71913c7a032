import { GoondanError } from '@goondan/types';
import { openStream } from './call-socket.ts';
import type { ControlSocket } from './control-socket.ts';
import { isNotice, swarmNotice } from './check-answer.ts';
import { operations } from './operations.ts';
import { checkAnswer } from './read-answer.ts';
import type { Swarm, SwarmNotice, SwarmWatch, WatchFilter } from './swarm.ts';

/** Implements `Swarm.watch` over a socket. */
export async function watchSwarm(
  socket: ControlSocket,
  filter: WatchFilter,
  listener: (notice: SwarmNotice) => void,
): Promise<SwarmWatch> {
  const stream = await openStream(socket, operations.watch, filter);
  const ended = readNotices(socket, stream, (notice) => {
    // The swarm tells every slow reader that notices were dropped.
    if (filter.types === undefined || filter.types.includes(notice.type)) listener(notice);
  });
  // The owner of the watch handles the rejection.
  ended.catch(() => undefined);
  return { ended, end: stream.end };
}

/** Makes `Swarm.watch` of an implementation that does not know which types a filter has. */
export function typedWatch(
  watch: (filter: WatchFilter, listener: (notice: SwarmNotice) => void) => Promise<SwarmWatch>,
): Swarm['watch'] {
  // Safe: a watch delivers only notices of the types in its filter.
  return watch as Swarm['watch'];
}

async function readNotices(
  { what }: ControlSocket,
  { events, end, hasEnded }: Awaited<ReturnType<typeof openStream>>,
  listener: (notice: SwarmNotice) => void,
): Promise<void> {
  try {
    for await (const { event, data } of events) {
      if (hasEnded() || event === 'stopped') return;
      if (isNotice(event)) listener(checkAnswer(swarmNotice, data));
    }
    if (!hasEnded()) throw new GoondanError('E_CONTROL_CLOSED', `The connection to ${what} was lost.`);
  } finally {
    end();
  }
}
