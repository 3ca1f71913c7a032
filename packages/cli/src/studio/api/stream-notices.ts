/**
 * What happens in a swarm, for one page that looks at it: for as long as the page is there, whether the swarm runs or
 * not, and through its stops and starts.
 *
 * What waits for a slow reader is bounded: of what may be lost the oldest goes, and the reader is told how many.
 */
import { EventStream, instancesChangedAt, sleep, type SwarmNotice, type SwarmWatch } from '@goondan/runtime';
import { attachSwarm, type SwarmPlace } from '../../swarm/attach-swarm.ts';
import type { StudioNotice } from '../contract.ts';
import type { StudioHost } from '../studio-host.ts';
import { hasSocket } from './list-workspaces.ts';

/** How often it is looked whether the swarm is there, and, while it is not, whether conversations came or went. */
const LOOK_MS = 1_000;
/** A swarm says something every 15 s. */
const SILENCE_MS = 20_000;
const MEGABYTE = 1_000_000;
const limits = {
  stream: { mostWaiting: 256, mostWaitingBytes: 4 * MEGABYTE, mostLossy: 1_000, mostLossyBytes: MEGABYTE },
  heartbeatMs: 15_000,
};

/** A date becomes a text on its way. */
type Notice = SwarmNotice | StudioNotice;

/** **Errors** — `E_STUDIO_BUSY`. */
export function streamNotices({ streams, clock }: StudioHost, place: SwarmPlace, left: AbortSignal): Response {
  const leave = streams.take();
  const over = new AbortController();
  const stream = new EventStream({ limits, clock, left, encodeDropped: encode });
  stream.onOver(() => {
    leave();
    over.abort();
  });
  const tell = (notice: Notice) => stream.send(encode(notice), lossyKindOf(notice));
  const look = (signal: AbortSignal) => sleep(clock, LOOK_MS, signal).catch(() => undefined);
  void follow(place, { tell, look, over: over.signal });
  return stream.response();
}

interface Follower {
  readonly tell: (notice: Notice) => void;
  /** Resolves when it is time to look again, or nobody wants to know any more. */
  readonly look: (signal: AbortSignal) => Promise<void>;
  readonly over: AbortSignal;
}

/** Never rejects. */
async function follow(place: SwarmPlace, { tell, look, over }: Follower): Promise<void> {
  let said: boolean | undefined;
  const lookAtInstances = () => instancesChangedAt(place.stateRoot, place.workspaceId);
  let instances = lookAtInstances();
  while (!over.aborted) {
    const watch = await startWatch(place, tell);
    say(watch !== undefined);
    if (watch !== undefined) {
      await untilOver(watch, over);
      instances = lookAtInstances();
      say(false);
    }
    await look(over);
    const now = lookAtInstances();
    // Nobody runs who could tell: `gdn instance delete` and `gdn fork` did it themselves.
    if (said === false && now !== instances) tell({ type: 'conversations' });
    instances = now;
  }

  function say(isRunning: boolean): void {
    if (said !== isRunning) tell({ type: 'swarm', isRunning });
    said = isRunning;
  }
}

/** `undefined` when no swarm is there, or it does not answer. */
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
  // However it ended: what follows is a look at what is there.
  await watch.ended.catch(() => undefined);
  over.removeEventListener('abort', end);
}

const encoder = new TextEncoder();

function encode(notice: Notice): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(notice)}\n\n`);
}

function lossyKindOf({ type }: Notice) {
  return type === 'delta' || type === 'log' || type === 'runtime.event' ? type : undefined;
}
