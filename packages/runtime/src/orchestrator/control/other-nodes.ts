/** The handles of the other nodes of a swarm. Each call of a handle opens its own connection. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { nodeSwarm } from '../../control/connect-swarm.ts';
import type { Swarm } from '../../control/swarm.ts';
import { type Clock, waitAtMost } from '../../ports/clock.ts';
import type { ClusterNode, ClusterPlacement } from '../../store/cluster-store.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';

/** The time in which another node answers a question that goes to all nodes. */
const ANSWER_MS = 3_000;

export interface OtherNodesDeps {
  readonly placement: Pick<ClusterPlacement, 'node' | 'nodes' | 'ownerOf'>;
  readonly clock: Clock;
  /** Returns the handle of a node. It throws if the node cannot be reached. */
  readonly connect: (node: ClusterNode) => Swarm;
}

export interface OtherNode {
  /** The id of this start of the node: another start has another id, also under the same name. */
  readonly id: string;
  readonly node: ClusterNode;
  readonly swarm: Swarm;
}

export interface NodeAnswer<Value> {
  readonly node: ClusterNode;
  readonly value?: Value;
  /** The reason why there is no value. */
  readonly problem?: string;
}

export class OtherNodes {
  constructor(private readonly deps: OtherNodesDeps) {}

  /** Returns the node that owns an instance: another one, this one (`here`), or none. */
  async placeOf(at: AgentAddress): Promise<OtherNode | 'here' | undefined> {
    const owner = await this.deps.placement.ownerOf(at);
    if (owner === undefined) return undefined;
    return owner.name === this.deps.placement.node ? 'here' : this.#open(owner);
  }

  /** Lists the other living nodes that have a control port. */
  async list(): Promise<readonly OtherNode[]> {
    const nodes = await this.#others();
    return nodes.filter(({ control }) => control !== undefined).map((node) => this.#open(node));
  }

  /** Asks all other nodes at the same time. A node that does not answer in time has a problem instead of a value. */
  async ask<Value>(question: (swarm: Swarm) => Promise<Value>): Promise<readonly NodeAnswer<Value>[]> {
    return Promise.all((await this.#others()).map((node) => this.#answerOf(node, question)));
  }

  async #answerOf<Value>(node: ClusterNode, question: (swarm: Swarm) => Promise<Value>): Promise<NodeAnswer<Value>> {
    try {
      const answer = question(this.#open(node).swarm).then((value) => ({ node, value }));
      answer.catch(() => undefined);
      const inTime = await waitAtMost(this.deps.clock, ANSWER_MS, answer);
      return inTime ?? { node, problem: `It did not answer within ${ANSWER_MS} ms.` };
    } catch (error) {
      return { node, problem: messageOf(error) };
    }
  }

  async #others(): Promise<readonly ClusterNode[]> {
    const { placement } = this.deps;
    return (await placement.nodes()).filter(({ name }) => name !== placement.node);
  }

  #open(node: ClusterNode): OtherNode {
    const id = JSON.stringify([node.name, node.since.getTime(), node.control]);
    return { id, node, swarm: this.deps.connect(node) };
  }
}

/** Returns a function that makes the handle of a node over TLS, for `OtherNodesDeps.connect`. */
export function nodeConnector(own: string, token: string, clock: Clock): OtherNodesDeps['connect'] {
  return ({ name, control }) => {
    if (control === undefined) throw new GoondanError('E_CONTROL_CLOSED', `Node "${name}" has no control port.`);
    return nodeSwarm({ ...control, token, relayedBy: own }, { clock });
  };
}

/** Returns true if the error of another node says that it is gone or going, and nothing about the request. */
export function isGone(error: unknown): boolean {
  return GoondanError.is(error) && GONE.has(error.code);
}

const GONE: ReadonlySet<string> = new Set([
  'E_CLUSTER_CERTIFICATE',
  'E_CONTROL_CLOSED',
  'E_CONTROL_FULL',
  'E_CONTROL_SILENT',
  'E_FENCED',
  'E_STORE_AWAY',
  'E_SWARM_STOPPED',
]);
