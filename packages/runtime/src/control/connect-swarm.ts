/**
 * The client of a control socket, or of the control port of a node. There is no other way into a running swarm from
 * another process.
 */
import { GoondanError } from '@goondan/types';
import { type Clock, systemClock } from '../ports/clock.ts';
import { followLinks } from '../workspace/layout/follow-links.ts';
import { workspaceFolder } from '../workspace/layout/instance-paths.ts';
import { askSwarm } from './ask-swarm.ts';
import { callSocket, openStream } from './call-socket.ts';
import type { ControlSocket, NodePlace } from './control-socket.ts';
import { controlSocketPath, systemSocketEnvironment } from './control-socket-path.ts';
import { type Operation, operationNames, operations, type PlainName } from './operations.ts';
import { readRefusal } from './read-answer.ts';
import type { StopOptions, Swarm } from './swarm.ts';
import { plainInOrder, sendPlain, typedAsk } from './typed-ask.ts';
import { typedWatch, watchSwarm } from './watch-swarm.ts';

export type ControlPlace = { readonly path: string } | { readonly stateRoot: string; readonly workspaceId: string };

export interface ConnectOptions {
  /**
   * The time without any data after which the connection counts as lost; 60 000 ms when absent. A swarm sends something
   * on each stream at least every 15 s.
   */
  readonly silenceMs?: number;
  readonly clock?: Clock;
}

/**
 * Connects to a running swarm. **Errors** — `E_CONTROL_CLOSED` when no swarm runs in this workspace,
 * `E_CONTROL_VERSION` when the swarm uses another protocol, `E_CONTROL_REQUEST` when `place` is incomplete.
 */
export async function connectSwarm(place: ControlPlace, options: ConnectOptions = {}): Promise<Swarm> {
  return connect(place, options);
}

/**
 * Connects to a node of a swarm over TLS. **Errors** — `E_CLUSTER_CERTIFICATE` when another certificate answers, in which
 * case nothing was sent; `E_CLUSTER_TOKEN` when the node does not accept the token; those of `connectSwarm`.
 */
export async function connectNode(place: NodePlace, options: ConnectOptions = {}): Promise<Swarm> {
  const swarm = nodeSwarm(place, options);
  await swarm.status();
  return swarm;
}

/** Returns the handle of a node without connecting to it: each call opens its own connection. */
export function nodeSwarm(place: NodePlace, options: ConnectOptions = {}): Swarm {
  return remoteSwarm({
    silenceMs: 60_000,
    clock: systemClock,
    ...options,
    place,
    what: `The node at ${place.address}`,
  });
}

/** The process of a swarm that this program has started. */
export interface SwarmProcess {
  readonly ended: Promise<void>;
  /** Ends the process, and so also the swarm. This works without the control socket. */
  readonly end: () => Promise<void>;
  /** Returns the reason if the swarm stopped without a request. */
  readonly failure: () => GoondanError | undefined;
}

/** Connects to a swarm whose process this program started. The swarm ends with this program. */
export function connectOwnSwarm(place: ControlPlace, own: SwarmProcess): Promise<Swarm> {
  return connect(place, {}, own);
}

async function connect(place: ControlPlace, options: ConnectOptions, own?: SwarmProcess): Promise<Swarm> {
  const swarm = remoteSwarm({ silenceMs: 60_000, clock: systemClock, ...options, ...find(place) }, own);
  await swarm.status();
  return swarm;
}

function find(place: ControlPlace): Pick<ControlSocket, 'place' | 'what'> {
  checkPlace(place);
  if ('path' in place) return { place: { path: place.path }, what: `The swarm at ${place.path}` };
  const { stateRoot, workspaceId } = place;
  // Resolves links as `startSwarm` does, because the name of a socket outside of the workspace depends on the
  // workspace's path.
  const folder = workspaceFolder(followLinks(stateRoot), workspaceId);
  const path = controlSocketPath(folder, workspaceId, systemSocketEnvironment());
  return { place: { path }, what: `The swarm of workspace "${workspaceId}"` };
}

/** Checks `place`, because a program in JavaScript may pass anything. */
function checkPlace(place: unknown): void {
  const given: Readonly<Record<string, unknown>> = Object(place);
  const missing = ('path' in given ? ['path'] : ['stateRoot', 'workspaceId']).find(
    (name) => typeof given[name] !== 'string' || given[name] === '',
  );
  if (missing === undefined) return;
  const message = `connectSwarm needs { path } or { stateRoot, workspaceId }, and ${missing} is ${String(given[missing]) || 'empty'}.`;
  const suggestion =
    'A running swarm has its id: `(await swarm.status()).workspaceId`. The result of `resolveSwarm` has it, too.';
  throw new GoondanError('E_CONTROL_REQUEST', message, { suggestion });
}

function remoteSwarm(socket: ControlSocket, own?: SwarmProcess): Swarm {
  let stopped = own?.ended;
  const toPlain = plainInOrder();
  return {
    ...plainMethods(socket),
    deliver: sendPlain(toPlain, (delivery) => callSocket(socket, operations.deliver, delivery)),
    ask: typedAsk((delivery, options) => askSwarm(socket, delivery, options), toPlain),
    watch: typedWatch((filter, listener) => watchSwarm(socket, filter, listener)),
    stop: (options = {}) => (own === undefined ? stopSwarm(socket, options) : stopOwn(socket, own, options)),
    get stopped() {
      return (stopped ??= whenStopped(socket));
    },
    get failure() {
      return own?.failure();
    },
  };
}

function plainMethods(socket: ControlSocket): Pick<Swarm, PlainName> {
  const methods = operationNames.map((name) => [
    name,
    // Safe: request and answer belong to the same operation, which the compiler cannot infer for a variable name.
    (request: object = {}) => callSocket(socket, operations[name] as Operation<object, unknown>, request),
  ]);
  // Safe: the table has the types of `Swarm`.
  return Object.fromEntries(methods) as Pick<Swarm, PlainName>;
}

async function stopSwarm(socket: ControlSocket, { left, ...options }: StopOptions): Promise<void> {
  const { events, end } = await openStream(socket, operations.stop, options);
  left?.addEventListener('abort', end, { once: true });
  if (left?.aborted === true) end();
  try {
    for await (const { event, data } of events) {
      if (event === 'error') throw readRefusal(data);
    }
  } catch (error) {
    // The swarm closed the connection when it stopped.
    unlessGone(error);
  } finally {
    end();
  }
}

/** Stops the swarm and waits for the end of its process, even if the swarm or its socket is gone. */
async function stopOwn(socket: ControlSocket, { ended, end }: SwarmProcess, options: StopOptions): Promise<void> {
  try {
    await stopSwarm(socket, options);
  } catch (error) {
    // If the swarm does not answer any more, its process is ended.
    if (!(GoondanError.is(error) && error.code === 'E_CONTROL_SILENT')) unlessGone(error);
    await end();
  }
  await ended;
}

async function whenStopped(socket: ControlSocket): Promise<void> {
  try {
    // Only the end of the watch matters here, so the watch requests only the rarest type of notice.
    const { ended } = await watchSwarm(socket, { types: ['dropped'] }, () => undefined);
    await ended;
  } catch (error) {
    unlessGone(error);
  }
}

/** Throws the error again, unless it says that the swarm has stopped. */
function unlessGone(error: unknown): void {
  if (!(GoondanError.is(error) && error.code === 'E_CONTROL_CLOSED')) throw error;
}
