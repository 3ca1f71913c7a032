/** Streams the notices of a swarm to one page while the page is open, even when the swarm stops and starts. */
import type { SwarmNotice, SwarmWatch } from '@goondan/runtime';
import { type LossyKind, sleep } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { attachSwarm } from '../../swarm/attach-swarm.ts';
import { openReader, type SwarmPlace } from '../../swarm/swarm-place.ts';
import { hasSocket } from '../../swarm/read-status.ts';
import type { StudioNotice } from '../contract.ts';
import { NoticeSocket } from '../notice-socket.ts';
import type { StudioHost } from '../studio-host.ts';

/** How often to check for a running swarm and, while none runs, for new and deleted conversations. */
const LOOK_MS = 1_000;
/** A swarm that sends nothing for this long counts as lost; it normally sends something every 15 s. */
const SILENCE_MS = 20_000;

/** A notice to send; dates become texts in JSON. */
type Notice = SwarmNotice | StudioNotice;

/** Turns the request into a WebSocket. **Errors** — `E_STUDIO_FORBIDDEN`, `E_STUDIO_REQUEST`. */
export function streamNotices({ streams, clock, upgrade }: StudioHost, place: SwarmPlace, request: Request): undefined {
  // A browser sends `Origin` with every WebSocket, and `checkSender` compares it with Studio's own address. Browsers
  // themselves do not keep foreign pages from opening a WebSocket.
  if (request.headers.get('origin') === null) {
    throw new Refusal(403, 'E_STUDIO_FORBIDDEN', 'The request does not say which page it comes from.');
  }
  const socket = new NoticeSocket((stream) => {
    const leave = takePlace(stream);
    if (leave === undefined) return;
    stream.left.addEventListener('abort', leave, { once: true });
    const look = () => sleep(clock, LOOK_MS, stream.left).catch(() => undefined);
    const tell = (notice: Notice) => stream.tell(notice, lossyKindOf(notice));
    void follow(place, tell, look, stream.left);
  });
  if (upgrade(request, socket)) return undefined;
  const message = 'Notices come over a WebSocket, and this request is not one.';
  throw new Refusal(426, 'E_STUDIO_REQUEST', message, { Upgrade: 'websocket' });

  /**
   * Counts the stream. A page cannot see why a handshake was refused, so a stream over the limit is accepted, and then
   * closed with the reason.
   */
  function takePlace(stream: NoticeSocket): (() => void) | undefined {
    try {
      return streams.take();
    } catch (error) {
      stream.refuse(GoondanError.is(error) ? error.message : String(error));
      return undefined;
    }
  }
}

/**
 * Follows the swarm of a workspace until the page disconnects. `look` resolves when it is time to check again, or when
 * the page has disconnected. Never rejects.
 */
async function follow(
  place: SwarmPlace,
  tell: (notice: Notice) => void,
  look: () => Promise<void>,
  over: AbortSignal,
): Promise<void> {
  let said: boolean | undefined;
  let instances: number | undefined;
  // A store that is away counts as unchanged: the next check reads it again.
  const readChange = async () => {
    try {
      return await (await openReader(place)).directory.changedAt();
    } catch {
      return instances;
    }
  };
  instances = await readChange();
  while (!over.aborted) {
    const watch = await startWatch(place, tell);
    say(watch !== undefined);
    if (watch !== undefined) {
      await untilOver(watch, over);
      instances = await readChange();
      say(false);
    }
    await look();
    if (over.aborted) return;
    const now = await readChange();
    // No swarm runs that could report the change: `gdn instance delete` or `gdn fork` made it.
    if (said === false && now !== instances) tell({ type: 'conversations' });
    instances = now;
  }

  function say(isRunning: boolean): void {
    if (said !== isRunning) tell({ type: 'swarm', isRunning });
    said = isRunning;
  }
}

/** Returns `undefined` when no swarm runs, or when the swarm does not answer. */
async function startWatch(place: SwarmPlace, tell: (notice: Notice) => void): Promise<SwarmWatch | undefined> {
  if (!hasSocket(place)) return undefined;
  try {
    return await (await attachSwarm(place, { silenceMs: SILENCE_MS }))?.watch({ soFar: true }, tell);
  } catch {
    return undefined;
  }
}

async function untilOver(watch: SwarmWatch, over: AbortSignal): Promise<void> {
  const end = () => watch.end();
  over.addEventListener('abort', end, { once: true });
  if (over.aborted) end();
  // Ignores why the watch ended: the next check shows whether a swarm runs.
  await watch.ended.catch(() => undefined);
  over.removeEventListener('abort', end);
}

function lossyKindOf({ type }: Notice): LossyKind | undefined {
  return type === 'delta' || type === 'log' || type === 'runtime.event' ? type : undefined;
}
