/** The plan of a connection, and what its events reach, for tests without a swarm. */
import type { ConnectionPlan } from '../config/swarm-plan.ts';
import type { Ingress } from '../orchestrator/connections/accept-heard.ts';
import { memoryBlobs } from '../store/memory-blobs.ts';

/** A connection whose events all go to the entry agent. */
export function fakeConnection(connection: string, over: Partial<ConnectionPlan> = {}): ConnectionPlan {
  return {
    connection,
    connector: 'chat',
    root: '/bundle',
    entry: 'chat.ts',
    config: {},
    secrets: {},
    rules: [{ route: {} }],
    ...over,
  };
}

/** Accepts every event. An ask gets no answer. */
export function fakeIngress(over: Partial<Ingress> = {}): Ingress {
  return {
    entryAgent: () => 'coder',
    newTraceId: () => 'f'.repeat(32),
    uploads: memoryBlobs(),
    maxFileBytes: () => 1_000,
    accept: async () => undefined,
    ask: () => new Promise<never>(() => undefined),
    ...over,
  };
}
