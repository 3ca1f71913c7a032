/**
 * A node of a simulated swarm, with the real placement, inbox, log and readers over a database that fails. Its own clock
 * stands still and shows a wrong date: no lease may depend on it.
 */
import type { ConversationLog } from '@goondan/runtime/history';
import { addressKey, type Clock, loggedConversations } from '@goondan/runtime/internal';
import { noBlobs } from '../testing/no-blobs.ts';
import type { AgentAddress, AgentEvent, GoondanError } from '@goondan/types';
import type { LivedInput, LivedTurns } from '../../../runtime/src/workspace/simulation/live.ts';
import { simulatedLimits } from '../../../runtime/src/workspace/simulation/simulated-machine.ts';
import { PostgresConnections } from '../nodes/connection-leases.ts';
import { repeating } from '../driver/repeat.ts';
import { joinNodes } from '../nodes/placement.ts';
import { WakeUps } from '../nodes/wake-ups.ts';
import { postgresAdmin } from '../store/admin.ts';
import { postgresAnswers } from '../store/answers.ts';
import { PostgresLog } from '../store/conversation-log.ts';
import { PostgresInbox } from '../store/inbox.ts';
import { openHistoryReader } from '../store/history-reader.ts';
import { never, type SimulatedDatabase } from './simulated-database.ts';
import { SimulatedQueue } from './simulated-queue.ts';

/** Facts about the swarm that outlive its nodes. The simulation notes them. */
export interface Observed {
  /** The highest epoch of each instance, by key. */
  readonly epochs: Map<string, number>;
  /** How often a node was asked to accept an event, by id. */
  readonly sent: Map<string, number>;
  /** The starts of each node, by its name. */
  readonly starts: Map<string, readonly string[]>;
}

export interface NodeToJoin {
  readonly database: SimulatedDatabase;
  readonly swarm: string;
  readonly name: string;
  readonly observed: Observed;
  /** If true, instances without input are released. */
  readonly isReleasing: boolean;
  /** The most bytes of frames that wait in memory. */
  readonly mostBytes: number;
  /** The number of the node, from 1 on. */
  readonly life: number;
}

export type SimulatedNode = Awaited<ReturnType<typeof joinSimulated>>;

export const CONNECTION = 'hook';
const LEASE_MS = 3_600_000;
/** The longest time of a timer. Frames in memory wait for the next durable one. */
const NEVER_MS = 2 ** 31 - 1;

export async function joinSimulated(start: NodeToJoin) {
  const { database, swarm, name, observed, life } = start;
  const clock = stillClock(life);
  const ended = observed.starts.get(name) ?? [];
  const facts = { name, start: `${name}, start ${ended.length}`, ended, version: '0.1.0' };
  observed.starts.set(name, [...ended, facts.start]);
  const placement = await joinNodes({ database, swarm, facts, leaseMs: LEASE_MS, clock });
  const context = { database, swarm, node: placement.id, mayRepeat: placement.mayRepeat };
  const log = new PostgresLog(context, { waitMs: NEVER_MS, mostBytes: start.mostBytes });
  placement.beforeRelease = async (instance) => {
    await (instance === undefined ? log.close() : log.settle(instance).catch(() => undefined));
  };
  const answers = postgresAnswers(context);
  const inbox = new PostgresInbox(context);
  /** Another node that accepts input, and owns nothing. */
  const elsewhere = new PostgresInbox({ ...context, node: 'elsewhere' });
  /** True while this node may not have heard of input that was accepted elsewhere. */
  let isUnheard = false;
  const queue = new SimulatedQueue();
  const patient = { query: repeating(database, placement.mayRepeat), listen: never, close: async () => undefined };
  const history = openHistoryReader(patient, swarm);
  const admin = postgresAdmin(context, { log, blobs: noBlobs(), history });
  const connections = new PostgresConnections({ database: patient, swarm }, placement);
  let lease = await connections.claim(CONNECTION);
  /** The instances whose input this node knows of, by key. */
  const told = new Map<string, AgentAddress>();
  /** The keys of instances whose input this node has to read. */
  const unread = new Set<string>();
  const onInput = (instance: AgentAddress) => {
    told.set(addressKey(instance), instance);
    unread.add(addressKey(instance));
  };
  const nothing = () => undefined;
  const hears = { onInput, onAnswer: nothing, onQuestion: nothing, onDeployed: nothing };
  const wakeUps = new WakeUps({ ...hears, database, swarm, placement, clock });
  /** The events that this node accepted under the lease of its connection. */
  const connected: string[] = [];
  let agent: Agent | undefined;

  function noteEpoch(instance: AgentAddress): void {
    const [key, epoch] = [addressKey(instance), placement.epochOf(instance)];
    if (epoch <= (observed.epochs.get(key) ?? 0)) throw new Error(`the claim of ${key} has the old epoch ${epoch}`);
    observed.epochs.set(key, epoch);
  }

  async function claim(instance: AgentAddress): Promise<boolean> {
    if (placement.owns(instance)) return true;
    const isClaimed = await placement.claim(instance);
    if (isClaimed) noteEpoch(instance);
    return isClaimed;
  }

  const orchestrator: LivedInput = {
    async accept(instance: AgentAddress, event: AgentEvent) {
      observed.sent.set(event.id, (observed.sent.get(event.id) ?? 0) + 1);
      const under = lease && isConnected(event) ? { connection: CONNECTION, epoch: lease.epoch } : undefined;
      const isElsewhere = isAcceptedElsewhere(event);
      isUnheard ||= isElsewhere;
      const accepted = await (isElsewhere ? elsewhere : inbox).accept(instance, event, under);
      const isFirst = observed.sent.get(event.id) === 1;
      if (isFirst && accepted.duplicate) throw new Error(`the first delivery of ${event.id} is called a duplicate`);
      if (under && !accepted.duplicate) connected.push(event.id);
      if (isElsewhere || !(await claim(instance))) return accepted;
      const isQueued = !accepted.duplicate && queue.accepted(instance, accepted.seq);
      if (!isQueued) onInput(instance);
      return accepted;
    },
    async pendingEntries(instance) {
      let entries = await readQueued(instance);
      if (entries.length === 0 && isUnheard) {
        await lookAround();
        isUnheard = false;
        entries = await readQueued(instance);
      }
      if (entries.length === 0 && start.isReleasing) await release(instance);
      return entries;
    },
    handled: () => inbox.handled(),
    async instances() {
      await lookAround();
      return [...told.values()];
    },
    hasWork: async () => true,
    reset: (instance) => admin.reset(instance),
  };

  async function readQueued(instance: AgentAddress) {
    const key = addressKey(instance);
    if (!told.has(key)) return [];
    const entries = await inbox.pendingEntries(instance);
    if (unread.delete(key)) queue.read(instance, entries);
    return entries.filter(({ seq }) => queue.has(instance, seq));
  }

  async function lookAround(): Promise<void> {
    const owned = new Set(told.keys());
    const { cuts } = database;
    await scan();
    // The next renewal and the next scan come by themselves.
    if (database.cuts > cuts) await scan();
    for (const [key, instance] of told) if (!owned.has(key) && isNewClaim(instance)) noteEpoch(instance);
  }

  async function scan(): Promise<void> {
    await placement.renew();
    await wakeUps.scan();
    await database.settled();
  }

  /** Returns true if the wake-ups have claimed the instance. */
  function isNewClaim(instance: AgentAddress): boolean {
    return placement.epochOf(instance) !== observed.epochs.get(addressKey(instance));
  }

  async function release(instance: AgentAddress): Promise<void> {
    told.delete(addressKey(instance));
    queue.forget(instance);
    await agent?.turns.close(instance);
    await placement.release(instance);
  }

  return {
    placement,
    log,
    admin,
    get lease() {
      return lease;
    },
    /** Claims the connection, also again: the echo of a claim raises its epoch. */
    async claimConnection(): Promise<void> {
      await lease?.release();
      lease = await connections.claim(CONNECTION);
      if (lease === undefined) throw new Error('the connection was not taken over');
    },
    orchestrator,
    connected,
    claim,
    release,
    onInput,
    /** Starts the agent process, after the one before has ended. It is killed at this call to its log. */
    startAgent(killAt = 0): Agent {
      agent = startAgent(log, answers, clock, killAt);
      return agent;
    },
    /** Notes that the database refused a write, as the store of a node does. */
    lose(instances: readonly AgentAddress[], error: GoondanError): void {
      for (const instance of instances) {
        if (placement.loseInstance(instance, error)) log.forget(instance);
        told.delete(addressKey(instance));
        queue.forget(instance);
      }
    },
    /** Drops what the memory of the node has. */
    forget(instances: readonly AgentAddress[]): void {
      for (const instance of instances) log.forget(instance);
    },
  };
}

export interface Agent {
  readonly turns: LivedTurns;
  /** Resolves when the process is killed. */
  readonly killed: Promise<'killed'>;
  /** The number of calls to the log so far. */
  readonly calls: () => number;
}

/** Starts an agent process, which reaches the log through its node. What it sent before its end reaches the log. */
function startAgent(
  log: ConversationLog,
  answers: ReturnType<typeof postgresAnswers>,
  clock: Clock,
  killAt: number,
): Agent {
  let calls = 0;
  let kill: (how: 'killed') => void = () => undefined;
  const killed = new Promise<'killed'>((resolve) => {
    kill = resolve;
  });
  const through = async <Result>(action: () => Promise<Result>): Promise<Result> => {
    if (killAt > 0 && calls >= killAt) return never();
    const isLast = (calls += 1) === killAt;
    const answer = await action();
    if (!isLast) return answer;
    kill('killed');
    return never();
  };
  const channel: ConversationLog = {
    load: (...asked) => through(() => log.load(...asked)),
    append: (...asked) => through(() => log.append(...asked)),
    putCheckpoint: (...asked) => through(() => log.putCheckpoint(...asked)),
  };
  const { conversations, close } = loggedConversations(channel, answers, { clock, limits: simulatedLimits });
  const turns: LivedTurns = {
    ...conversations,
    recover: async (instance) => void (await conversations.read(instance)),
    close,
    outbox: {
      pending: async (instance) => (await answers.left(instance)).map(({ eventId }) => ({ key: `turn-${eventId}` })),
      acknowledge: (instance, key) => answers.acknowledge(instance, key.slice('turn-'.length)),
    },
  };
  return { turns, killed, calls: () => calls };
}

/** Returns true if the event comes in through the connection, and is accepted under its lease. */
export function isConnected({ id }: AgentEvent): boolean {
  return Number(id.slice(1)) % 2 === 1;
}

/** Returns true if another node than the owner accepts the event. */
function isAcceptedElsewhere({ id }: AgentEvent): boolean {
  return Number(id.slice(1)) % 4 === 2;
}

function stillClock(life: number): Clock {
  let now = Date.UTC(2020, 0, 1 + life);
  return { now: () => new Date(++now), elapsed: () => 0, after: () => () => undefined };
}
