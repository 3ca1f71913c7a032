/** The client of a control socket: the only way into a running swarm from another process. */
import { GoondanError } from '@goondan/types';
import { type Clock, systemClock } from '../ports/clock.ts';
import { followLinks } from '../workspace/layout/follow-links.ts';
import { workspaceFolder } from '../workspace/layout/instance-paths.ts';
import { askSwarm } from './ask-swarm.ts';
import { callSocket, openStream } from './call-socket.ts';
import type { ControlSocket } from './control-socket.ts';
import {
  acceptance,
  approvalsAnswer,
  approveAnswer,
  cancelAnswer,
  deadLettersAnswer,
  deleteAnswer,
  denyAnswer,
  dropAnswer,
  forkAnswer,
  instancesAnswer,
  reloadAnswer,
  restartAnswer,
  retryAnswer,
  swarmGreeting,
  swarmStatus,
} from './check-answer.ts';
import type { ControlClient } from './control-client.ts';
import { controlSocketPath, systemSocketEnvironment } from './control-socket-path.ts';
import { endpoints, PROTOCOL_VERSION } from './endpoints.ts';
import { readRefusal } from './read-answer.ts';
import { watchSwarm } from './watch-swarm.ts';

export type ControlPlace = { readonly path: string } | { readonly stateRoot: string; readonly workspaceId: string };

export interface ControlClientOptions {
  /** How long the swarm may say nothing, 60 000 when absent. Streams say something every 15 s. */
  readonly silenceMs?: number;
  readonly clock?: Clock;
}

/** **Errors** — `E_CONTROL_CLOSED` when no swarm runs there, `E_CONTROL_VERSION` when it speaks another protocol. */
export async function connectControl(place: ControlPlace, options: ControlClientOptions = {}): Promise<ControlClient> {
  const socket = { silenceMs: 60_000, clock: systemClock, ...options, ...find(place) };
  const client = controlClient(socket);
  const { protocol } = await client.greet();
  if (protocol === PROTOCOL_VERSION) return client;
  const message = `${socket.what} speaks version ${protocol} of the protocol, this is version ${PROTOCOL_VERSION}.`;
  throw new GoondanError('E_CONTROL_VERSION', message);
}

function find(place: ControlPlace): Pick<ControlSocket, 'path' | 'what'> {
  if ('path' in place) return { path: place.path, what: `The swarm at ${place.path}` };
  const { stateRoot, workspaceId } = place;
  // As `startSwarm` does: the name of a socket outside of the workspace is made of its path.
  const folder = workspaceFolder(followLinks(stateRoot), workspaceId);
  const path = controlSocketPath(folder, workspaceId, systemSocketEnvironment());
  return { path, what: `The swarm of workspace "${workspaceId}"` };
}

function controlClient(socket: ControlSocket): ControlClient {
  return {
    path: socket.path,
    greet: () => callSocket(socket, endpoints.swarm, swarmGreeting),
    deliver: (delivery) => callSocket(socket, endpoints.deliver, acceptance, { body: delivery }),
    ask: (delivery, options) => askSwarm(socket, delivery, options),
    watch: (filter, listener) => watchSwarm(socket, filter, listener),
    async cancel(at, reason) {
      const body = { ...at, ...(reason === undefined ? {} : { reason }) };
      return (await callSocket(socket, endpoints.cancel, cancelAnswer, { body })).cancelled;
    },
    status: () => callSocket(socket, endpoints.status, swarmStatus),
    instances: async () => (await callSocket(socket, endpoints.instances, instancesAnswer)).instances,
    async deleteInstance({ agentName, instanceKey }, options = {}) {
      const body = { agent: agentName, instanceKey, ...options };
      const { deleted: _, ...gone } = await callSocket(socket, endpoints.deleteInstance, deleteAnswer, {
        body,
        patient: true,
      });
      return gone;
    },
    async forkInstance({ agentName, instanceKey }, options) {
      const body = { agent: agentName, instanceKey, ...options };
      const { forked: _, ...made } = await callSocket(socket, endpoints.forkInstance, forkAnswer, {
        body,
        patient: true,
      });
      return made;
    },
    async deadLetters({ agent, instanceKey } = {}) {
      const query = { agent, instanceKey };
      return (await callSocket(socket, endpoints.deadLetters, deadLettersAnswer, { query })).deadLetters;
    },
    async retryDeadLetter({ agentName, instanceKey }, eventId) {
      const body = { agent: agentName, instanceKey, eventId };
      return (await callSocket(socket, endpoints.retryDeadLetter, retryAnswer, { body })).retried;
    },
    async dropDeadLetter({ agentName, instanceKey }, eventId) {
      const body = { agent: agentName, instanceKey, eventId };
      return (await callSocket(socket, endpoints.dropDeadLetter, dropAnswer, { body })).dropped;
    },
    approvals: async () => (await callSocket(socket, endpoints.approvals, approvalsAnswer)).approvals,
    async approve(id, options = {}) {
      return (await callSocket(socket, endpoints.approve, approveAnswer, { body: { id, ...options } })).approved;
    },
    async deny(id, options = {}) {
      return (await callSocket(socket, endpoints.deny, denyAnswer, { body: { id, ...options } })).denied;
    },
    async restart(choice = {}) {
      return (await callSocket(socket, endpoints.restart, restartAnswer, { body: choice, patient: true })).restarted;
    },
    reload: () => callSocket(socket, endpoints.reload, reloadAnswer, { body: {}, patient: true }),
    stop: (options = {}) => stopSwarm(socket, options),
    whenStopped: () => whenStopped(socket),
  };
}

async function stopSwarm(socket: ControlSocket, options: { readonly graceMs?: number }): Promise<void> {
  const { events, end } = await openStream(socket, endpoints.stop, { body: options });
  try {
    for await (const { event, data } of events) {
      if (event === 'error') throw readRefusal(data);
    }
  } catch (error) {
    // It took the connection with it.
    if (!(error instanceof GoondanError && error.code === 'E_CONTROL_CLOSED')) throw error;
  } finally {
    end();
  }
}

async function whenStopped(socket: ControlSocket): Promise<void> {
  try {
    // Of all there is to watch, what is told only to who misses something.
    const { ended } = await watchSwarm(socket, { types: ['dropped'] }, () => undefined);
    await ended;
  } catch (error) {
    if (!(error instanceof GoondanError && error.code === 'E_CONTROL_CLOSED')) throw error;
  }
}
