/** The client of a control socket: the only way into a running swarm from another process. */
import { GoondanError } from '@goondan/types';
import { type Clock, systemClock } from '../ports/clock.ts';
import { followLinks } from '../workspace/layout/follow-links.ts';
import { workspaceFolder } from '../workspace/layout/instance-paths.ts';
import { askSwarm } from './ask-swarm.ts';
import { callSocket, openStream } from './call-socket.ts';
import type { ControlSocket } from './control-socket.ts';
import { controlSocketPath, systemSocketEnvironment } from './control-socket-path.ts';
import { type Operation, operationNames, operations, type PlainName } from './operations.ts';
import { readRefusal } from './read-answer.ts';
import type { StopOptions, Swarm } from './swarm.ts';
import { watchSwarm } from './watch-swarm.ts';

export type ControlPlace = { readonly path: string } | { readonly stateRoot: string; readonly workspaceId: string };

export interface ConnectOptions {
  /** The longest silence of the swarm, 60 000 when absent. Streams send something every 15 s. */
  readonly silenceMs?: number;
  readonly clock?: Clock;
}

/**
 * Connects to a running swarm. **Errors** — `E_CONTROL_CLOSED` when no swarm runs there, `E_CONTROL_VERSION` when it
 * uses another protocol.
 */
export async function connectSwarm(place: ControlPlace, options: ConnectOptions = {}): Promise<Swarm> {
  const swarm = remoteSwarm({ silenceMs: 60_000, clock: systemClock, ...options, ...find(place) });
  await swarm.status();
  return swarm;
}

function find(place: ControlPlace): Pick<ControlSocket, 'path' | 'what'> {
  if ('path' in place) return { path: place.path, what: `The swarm at ${place.path}` };
  const { stateRoot, workspaceId } = place;
  // As `startSwarm` does: the name of a socket outside of the workspace depends on its path.
  const folder = workspaceFolder(followLinks(stateRoot), workspaceId);
  const path = controlSocketPath(folder, workspaceId, systemSocketEnvironment());
  return { path, what: `The swarm of workspace "${workspaceId}"` };
}

function remoteSwarm(socket: ControlSocket): Swarm {
  let stopped: Promise<void> | undefined;
  return {
    ...plainMethods(socket),
    ask: (delivery, options) => askSwarm(socket, delivery, options),
    watch: (filter, listener) => watchSwarm(socket, filter, listener),
    stop: (options = {}) => stopSwarm(socket, options),
    get stopped() {
      return (stopped ??= whenStopped(socket));
    },
  };
}

function plainMethods(socket: ControlSocket): Pick<Swarm, PlainName> {
  const methods = operationNames.map((name) => [
    name,
    // Safe: request and answer of an operation belong together, but the compiler cannot see it for a variable name.
    (request: object = {}) => callSocket(socket, operations[name] as Operation<object, unknown>, request),
  ]);
  // Safe: the table has the types of `Swarm`.
  return Object.fromEntries(methods) as Pick<Swarm, PlainName>;
}

async function stopSwarm(socket: ControlSocket, options: StopOptions): Promise<void> {
  const { events, end } = await openStream(socket, operations.stop, options);
  try {
    for await (const { event, data } of events) {
      if (event === 'error') throw readRefusal(data);
    }
  } catch (error) {
    // The swarm closed the connection with its own end.
    if (!(error instanceof GoondanError && error.code === 'E_CONTROL_CLOSED')) throw error;
  } finally {
    end();
  }
}

async function whenStopped(socket: ControlSocket): Promise<void> {
  try {
    // Only the end of the watch matters here, so it asks for the rarest notices.
    const { ended } = await watchSwarm(socket, { types: ['dropped'] }, () => undefined);
    await ended;
  } catch (error) {
    if (!(error instanceof GoondanError && error.code === 'E_CONTROL_CLOSED')) throw error;
  }
}
