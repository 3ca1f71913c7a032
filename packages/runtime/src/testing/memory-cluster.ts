/**
 * Several nodes of one swarm in one process, over a store in memory. The test ends leases by hand: `kill` takes the place
 * of a node away, and `scan` does what the store's scan does each second.
 */
import {
  type AgentAddress,
  type AgentEvent,
  GoondanError,
  type JsonValue,
  type TokenUsage,
  type TurnResult,
} from '@goondan/types';
import type { ClusterNode, ClusterPlacement, ClusterStore, RemoteCalls } from '../store/cluster-store.ts';
import type { Inbox } from '../store/inbox.ts';
import type { NodeStore } from '../store/store.ts';
import { answerOf, decodeReply } from '../workspace/records/reply.ts';
import {
  memoryQuestions,
  memoryCounters,
  memoryInbox,
  memoryPlacement,
  MemorySwarm,
} from './conformance/memory-seams.ts';

interface MemoryNode {
  readonly watched: Map<string, AgentAddress>;
  load: () => number;
  isDraining: boolean;
  refused: ReadonlySet<string>;
  began: (callee: AgentAddress, eventId: string) => void;
  answered: (callee: AgentAddress, eventId: string, result: TurnResult, usage?: TokenUsage) => void;
  drain: () => void;
  lost: (error: GoondanError, instance?: AgentAddress) => void;
}

type MemoryParts = Pick<NodeStore, 'inbox' | 'questions' | 'counters'> &
  Pick<ClusterStore, 'placement' | 'calls' | 'listInstances'>;

export class MemoryCluster {
  readonly swarm = new MemorySwarm();
  /** The instances that have input, by the key of the swarm. */
  readonly #instances = new Map<string, AgentAddress>();
  readonly #nodes = new Map<string, MemoryNode>();
  readonly #began = new Set<string>();
  /** If true, claims and writes fail with `E_STORE_AWAY`. */
  isAway = false;
  /** If true, no node is told of input that another node accepted, and scans find nothing. */
  isSilent = false;

  /** Joins as a node. The result replaces the seams of a swarm on files. */
  join(name: string): MemoryParts {
    const node: MemoryNode = {
      watched: new Map(),
      load: () => 0,
      isDraining: false,
      refused: new Set(),
      began: () => undefined,
      answered: () => undefined,
      drain: () => undefined,
      lost: () => undefined,
    };
    this.#nodes.set(name, node);
    return {
      placement: this.#placement(name, node),
      inbox: this.#inbox(name),
      questions: memoryQuestions(this.swarm),
      counters: memoryCounters(this.swarm, name),
      calls: this.#calls(node),
      listInstances: async ({ agents, most }) =>
        [...this.#instances.values()]
          .filter(({ agentName }) => agents.includes(agentName))
          .slice(0, most)
          .map((at) => {
            const workingAt = this.swarm.inputOf(at).pending.length > 0 ? this.ownerOf(at) : undefined;
            return { ...at, ...(workingAt !== undefined && { workingAt }) };
          }),
    };
  }

  ownerOf(at: AgentAddress): string | undefined {
    const owner = this.swarm.owners.get(keyOf(at));
    return owner !== undefined && this.swarm.nodes.has(owner) ? owner : undefined;
  }

  /** Ends the lease of a node. It learns of it at once, if `isTold`. */
  kill(name: string, isTold: boolean): void {
    this.swarm.nodes.delete(name);
    const error = new GoondanError('E_FENCED', `Node ${name} has lost its place.`);
    if (isTold) this.#nodes.get(name)?.lost(error);
  }

  /** Gives an instance to another node, although the owner lives. */
  move(at: AgentAddress, to: string): void {
    const before = this.swarm.owners.get(keyOf(at));
    this.swarm.owners.set(keyOf(at), to);
    const error = new GoondanError('E_FENCED', 'Another node owns the conversation.');
    if (before !== undefined) this.#nodes.get(before)?.lost(error, at);
  }

  /** Wakes a node for each instance with input that no living node owns: the one with the fewest processes. */
  scan(): void {
    for (const [key, at] of this.#instances) {
      if (this.swarm.inputOf(at).pending.length === 0) continue;
      const free = [...this.#nodes].filter(
        ([name, { isDraining, refused }]) => this.swarm.nodes.has(name) && !isDraining && !refused.has(at.agentName),
      );
      const [least] = free.toSorted(([, left], [, right]) => left.load() - right.load());
      const owner = this.swarm.owners.get(key);
      const awake = owner !== undefined && this.swarm.nodes.has(owner) ? owner : least?.[0];
      if (awake !== undefined) this.swarm.wakeListeners.get(awake)?.(at);
    }
  }

  /** Notes that the turn of an event has begun. */
  begin(at: AgentAddress, { id }: AgentEvent): void {
    if (this.#began.has(id)) return;
    this.#began.add(id);
    for (const { watched, began } of this.#nodes.values()) if (watched.has(id)) began(at, id);
  }

  /** Commits a turn, as the agent process of this node does. **Errors** — `E_FENCED` unless the node owns the instance. */
  commit(node: string, at: AgentAddress, event: AgentEvent, result: TurnResult, usage: TokenUsage): void {
    if (this.ownerOf(at) !== node) throw new GoondanError('E_FENCED', `Node ${node} does not own the conversation.`);
    const input = this.swarm.inputOf(at);
    const index = input.pending.findIndex((entry) => entry.event.id === event.id);
    if (index < 0) return;
    input.pending.splice(index, 1);
    if (event.replyTo !== undefined) input.answers.push({ eventId: event.id, result, usage });
    // The answers to this turn are no longer needed.
    for (const { answers } of this.swarm.inputs.values()) {
      for (const { eventId } of [...answers]) {
        if (this.#callers.get(eventId) !== event.id) continue;
        answers.splice(
          answers.findIndex((each) => each.eventId === eventId),
          1,
        );
      }
    }
    this.tellAnswers();
  }

  /** Tells every node the answers that it watches, as the store does each second. */
  tellAnswers(): void {
    for (const [key, at] of this.#instances) {
      for (const { eventId, result, usage } of this.swarm.inputs.get(key)?.answers ?? []) {
        for (const { watched, answered } of this.#nodes.values())
          if (watched.has(eventId)) answered(at, eventId, result, usage);
      }
    }
  }

  /** The event whose turn made a call, by the call's event. */
  readonly #callers = new Map<string, string>();

  #placement(name: string, node: MemoryNode): ClusterPlacement {
    const placement = memoryPlacement(this.swarm, name);
    const away = () => {
      if (this.isAway) throw new GoondanError('E_STORE_AWAY', 'The store is away.', { retryable: true });
    };
    const describe = (each: string, since: Date): ClusterNode => ({
      name: each,
      since,
      version: '0',
      load: this.#nodes.get(each)?.load() ?? 0,
      instances: [...this.swarm.owners.values()].filter((owner) => owner === each).length,
      isDraining: this.#nodes.get(each)?.isDraining ?? false,
    });
    const nodes = async () => [...this.swarm.nodes].map(([each, since]) => describe(each, since));
    return {
      ...placement,
      async claim(at) {
        away();
        return !node.refused.has(at.agentName) && placement.claim(at);
      },
      check: (at) => {
        away();
        placement.check(at);
        if (at !== undefined && this.ownerOf(at) !== name) throw new GoondanError('E_FENCED', 'Not the owner.');
      },
      onLost: (listener) => void (node.lost = listener),
      nodes,
      ownerOf: async (at) => (await nodes()).find((each) => each.name === this.ownerOf(at)),
      takeNewEpoch: () => undefined,
      setLoad: (count) => void (node.load = count),
      refuseAgents: (names) => void (node.refused = names),
      onFailover: () => undefined,
      onDrain: (listener) => void (node.drain = listener),
      drain: async (other) => {
        const drained = this.#nodes.get(other);
        if (drained === undefined) throw new GoondanError('E_NODE_UNKNOWN', `There is no node ${other}.`);
        drained.isDraining = true;
        drained.drain();
      },
    };
  }

  #inbox(name: string): Inbox {
    const inbox = memoryInbox(this.swarm, name);
    return {
      ...inbox,
      onWake: (listener) => inbox.onWake((at) => (this.isSilent ? undefined : listener(at))),
      accept: async (at, event, under) => {
        if (this.isAway) throw new GoondanError('E_STORE_AWAY', 'The store is away.', { retryable: true });
        this.#instances.set(keyOf(at), at);
        const accepted = await inbox.accept(at, event, under);
        const caller = event.replyTo === undefined ? undefined : event.callChain?.at(-1);
        const running = caller && this.swarm.inputOf(caller).pending[0]?.event.id;
        if (running !== undefined) this.#callers.set(event.id, running);
        return accepted;
      },
      cancel: async (at, eventId, reason) => {
        const isMarked = await inbox.cancel(at, eventId, reason);
        const owner = this.ownerOf(at);
        if (isMarked && owner !== undefined && owner !== name) this.swarm.wakeListeners.get(owner)?.(at);
        return isMarked;
      },
    };
  }

  #calls(node: MemoryNode): RemoteCalls {
    return {
      watch: (callee, eventId) => {
        node.watched.set(eventId, callee);
        if (this.#began.has(eventId)) node.began(callee, eventId);
        queueMicrotask(() => this.tellAnswers());
      },
      forget: (eventId) => void node.watched.delete(eventId),
      onBegan: (listener) => void (node.began = listener),
      onAnswered: (listener) => void (node.answered = listener),
      taken: async (callee, eventId) => {
        const { answers } = this.swarm.inputOf(callee);
        const index = answers.findIndex((each) => each.eventId === eventId);
        if (index >= 0) answers.splice(index, 1);
      },
      fail: async (callee, failed) => {
        const { pending, answers } = this.swarm.inputOf(callee);
        for (const { eventId, reply } of failed) {
          const index = pending.findIndex(({ event, cancelled }) => event.id === eventId && cancelled === undefined);
          const entry = pending[index];
          const read = decodeReply(JSON.parse(reply) as JsonValue);
          if (entry === undefined || read === undefined) continue;
          pending[index] = { ...entry, cancelled: 'the agent could not start' };
          answers.push(answerOf(eventId, read));
        }
        this.tellAnswers();
      },
      findCircle: async (instance) => this.#findCircle(instance),
      held: async () => [...node.watched.values()].filter((callee) => this.#isHeld(callee)),
    };
  }

  /** Lists the instances that this instance waits for. */
  #awaitedBy(instance: AgentAddress): readonly AgentAddress[] {
    const key = keyOf(instance);
    return [...this.#instances.values()].filter((at) =>
      this.swarm.inputOf(at).pending.some(({ event, cancelled }) => {
        const caller = event.replyTo === undefined ? undefined : event.callChain?.at(-1);
        return cancelled === undefined && caller !== undefined && keyOf(caller) === key;
      }),
    );
  }

  #findCircle(instance: AgentAddress): readonly AgentAddress[] | undefined {
    const seen = new Set<string>();
    const search = (path: readonly AgentAddress[]): readonly AgentAddress[] | undefined => {
      for (const next of this.#awaitedBy(path.at(-1) ?? instance)) {
        if (keyOf(next) === keyOf(instance)) return [...path, next];
        if (seen.has(keyOf(next))) continue;
        seen.add(keyOf(next));
        const found = search([...path, next]);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    return search([instance]);
  }

  #isHeld(callee: AgentAddress): boolean {
    const asks = [...this.swarm.questions.values()].some(
      ({ agent, instanceKey, answer }) =>
        answer === undefined && keyOf({ agentName: agent, instanceKey }) === keyOf(callee),
    );
    return asks || this.#awaitedBy(callee).some((next) => this.#isHeld(next));
  }
}

function keyOf({ agentName, instanceKey }: AgentAddress): string {
  return JSON.stringify([agentName, instanceKey]);
}
