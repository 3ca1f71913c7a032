/** The control port of a node with two fake swarms behind it, over real TLS, for tests. */
import { connectNode } from '../control/connect-swarm.ts';
import type { Swarm } from '../control/swarm.ts';
import {
  type ControlPort,
  type ControlPortOptions,
  openControlPort,
} from '../orchestrator/control/open-control-port.ts';
import type { TokenScope } from '../store/cluster-store.ts';
import { type FakeControl, fakeControl } from './fake-control.ts';

export interface FakeNode {
  readonly port: ControlPort;
  /** The handle for clients, and the handle for requests that another node passes on. */
  readonly swarm: FakeControl;
  readonly local: FakeControl;
  /** The tokens that the store was asked for, in order. */
  readonly checked: readonly string[];
  readonly warnings: readonly string[];
  readonly reported: readonly unknown[];
  /** Connects with a token: `operate` by Ann, or `read` by Bob, or any other one. */
  connect(token: string, relayedBy?: string): Promise<Swarm>;
  /** Removes a token. */
  remove(token: string): void;
  close(): Promise<void>;
}

const owners = new Map<string, { readonly name: string; readonly scope: TokenScope }>([
  ['operate', { name: 'ann', scope: 'operate' }],
  ['read', { name: 'bob', scope: 'read' }],
]);

export function serveFakeNode(options: Partial<ControlPortOptions> = {}): FakeNode {
  const [swarm, local] = [fakeControl(), fakeControl()];
  const checked: string[] = [];
  const removed = new Set<string>();
  const warnings: string[] = [];
  const reported: unknown[] = [];
  const port = openControlPort({
    node: 'node-1',
    warn: (message) => warnings.push(message),
    report: (error) => reported.push(error),
    ...options,
  });
  const check = async (token: string) => {
    checked.push(token);
    return removed.has(token) ? undefined : owners.get(token);
  };
  port.serve({ swarm, local, tokens: { check } });
  return {
    port,
    swarm,
    local,
    checked,
    warnings,
    reported,
    connect: (token, relayedBy) =>
      connectNode({ ...port, token, ...(relayedBy === undefined ? {} : { relayedBy }) }, { silenceMs: 20_000 }),
    remove: (token) => void removed.add(token),
    close: () => port.close(),
  };
}
