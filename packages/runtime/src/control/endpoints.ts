/** Everything the control socket answers to: one table for the server, the client and the page about it. */
import type { SwarmStatus } from './swarm-control.ts';

/** Fields and endpoints may be added; whatever is taken away or changes its meaning makes another version. */
export const PROTOCOL_VERSION = 1;

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

export const endpoints = {
  swarm: { method: 'GET', path: '/v1/swarm' },
  status: { method: 'GET', path: '/v1/status' },
  instances: { method: 'GET', path: '/v1/instances' },
  deleteInstance: { method: 'POST', path: '/v1/instances/delete' },
  forkInstance: { method: 'POST', path: '/v1/instances/fork' },
  deliver: { method: 'POST', path: '/v1/deliver' },
  ask: { method: 'POST', path: '/v1/ask' },
  events: { method: 'GET', path: '/v1/events' },
  cancel: { method: 'POST', path: '/v1/cancel' },
  deadLetters: { method: 'GET', path: '/v1/dead-letters' },
  retryDeadLetter: { method: 'POST', path: '/v1/dead-letters/retry' },
  dropDeadLetter: { method: 'POST', path: '/v1/dead-letters/drop' },
  approvals: { method: 'GET', path: '/v1/approvals' },
  approve: { method: 'POST', path: '/v1/approvals/approve' },
  deny: { method: 'POST', path: '/v1/approvals/deny' },
  restart: { method: 'POST', path: '/v1/restart' },
  reload: { method: 'POST', path: '/v1/reload' },
  stop: { method: 'POST', path: '/v1/stop' },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** What `GET /v1/swarm` says. */
export interface SwarmGreeting {
  readonly protocol: number;
  readonly status: SwarmStatus;
}

export const EVENT_STREAM = 'text/event-stream';
