/**
 * The place of a node among the nodes of its swarm: a lease that the node renews, and the instances that it owns.
 *
 * Invariants:
 * 1. Only the clock of the database gives a lease, ends it, and gives an instance to another node.
 * 2. The monotonic clock of this machine only makes the node stop early: without an acknowledgement for half a lease it
 *    starts nothing, and shortly before a whole lease it has lost its place. The time counts from the moment at which the
 *    renewal was sent, so it ends before the lease does.
 * 3. A lost place stays lost. The node joins again under another id.
 * 4. An own instance is claimed with one statement. After that, claims of it are answered from memory until it is
 *    released or lost.
 */
import type { ClusterPlacement, FailoverListener } from '@goondan/runtime/history';
import { addressKey, randomIds, sleep, systemClock, waitAtMost } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { repeating } from '../driver/repeat.ts';
import { checkSchema } from '../schema/make-tables.ts';
import { claimInstance, forgiveNode, releaseInstance } from './claim-rows.ts';
import { claimDelayMs } from './claim-delay.ts';
import { Failover } from './failover.ts';
import { freeHint } from './hints.ts';
import {
  drainNode,
  endLease,
  freeOrphans,
  insertNode,
  type LivingNode,
  listNodes,
  refuseTwin,
  removeEndedNodes,
  renewLease,
} from './node-rows.ts';
import type { NodeStart, PlacementOptions } from './placement-options.ts';
import { TaskOfKey } from './task-of-key.ts';
import type { SwarmRows } from './swarm-rows.ts';

/** The part of the lease after which the place is lost. The rest is for the time that it takes to end processes. */
const LOST_AFTER = 0.95;
/** A node that notices the end of its lease so much later, as a part of the lease, stood still itself. */
const STOOD_STILL = 0.25;
/** The most lost instances that a later listener is told of. */
const MOST_LOST = 10_000;

/** Joins a swarm. **Errors** — `E_STORE_AWAY`, `E_STORE_SCHEMA`, `E_NODE_TAKEN`. */
export async function joinNodes(options: PlacementOptions): Promise<NodePlacement> {
  const { database, swarm, channel, facts, leaseMs, work = database, clock = systemClock, cutOff } = options;
  const rows: SwarmRows = { database, swarm, ...(channel !== undefined && { channel }) };
  await checkSchema(rows.database);
  const id = randomIds.next('node');
  const sentAt = clock.elapsed();
  await insertNode(rows, id, leaseMs, facts);
  await refuseTwin(rows, id, facts.name);
  if (cutOff !== undefined) await endLease(rows, cutOff);
  await removeEndedNodes(rows);
  await freeOrphans(rows);
  // Last, so that claims that ran while the instances became free are seen.
  if (cutOff !== undefined) await forgiveNode(rows, cutOff);
  const placement = new NodePlacement(rows, { id, node: facts.name, leaseMs, clock, sentAt, work });
  await placement.renew();
  return placement;
}

type LostListener = Parameters<ClusterPlacement['onLost']>[0];

export class NodePlacement implements ClusterPlacement {
  /** The id of this node, which is the owner in the rows of its instances. */
  readonly id: string;
  readonly node: string;
  /** The rows, with statements that are repeated while the database is away and the lease may be valid. */
  readonly #patient: SwarmRows;
  /** The epochs of the own instances. */
  readonly #claims = new Map<string, number>();
  /** The own instances that had no frame when they were claimed, and have had no process since. */
  readonly #newClaims = new Set<string>();
  readonly #tasks = new TaskOfKey();
  readonly #failover = new Failover();
  readonly #lostListeners: LostListener[] = [];
  /** The instances that were lost and not claimed again, for later listeners. */
  readonly #lostInstances = new Map<string, Parameters<LostListener>>();
  readonly #drainListeners: (() => void)[] = [];
  #lost: GoondanError | undefined;
  #stoodStill = false;
  #leaving: Promise<void> | undefined;
  #hasLeft = false;
  #isDraining = false;
  #refused: ReadonlySet<string> = new Set();
  #load = () => 0;
  #nodes: readonly LivingNode[] = [];
  #sentAt: number;
  #callOffRenewal = () => {};
  #callOffEnd = () => {};

  constructor(
    private readonly rows: SwarmRows,
    private readonly start: NodeStart,
  ) {
    this.#patient = { ...rows, database: { query: repeating(start.work, this.mayRepeat) } };
    this.id = start.id;
    this.node = start.node;
    this.#sentAt = start.sentAt;
  }

  /** Writes what is left in memory of an instance, or of all, before this node gives it up. */
  beforeRelease: (instance?: AgentAddress) => Promise<void> = async () => undefined;

  /** True if this node leaves the swarm or gives up its instances. It claims nothing then. */
  get isGivingUp(): boolean {
    return this.#leaving !== undefined || this.#isDraining;
  }

  /** True after the place was lost or left. */
  get isOver(): boolean {
    return this.#lost !== undefined || this.#hasLeft;
  }

  /**
   * True if the place was lost because this process itself did not work for a while. Otherwise, a process that joins again was only
   * cut off from the database.
   */
  get stoodStill(): boolean {
    return this.#stoodStill;
  }

  /** Returns true while a statement may be repeated: the lease may be valid, and the node wants it. */
  readonly mayRepeat = (): boolean => !this.isOver && this.#silentMs() < this.start.leaseMs * LOST_AFTER;

  check(instance?: AgentAddress): void {
    this.assertPlace();
    if (instance !== undefined && !this.#claims.has(addressKey(instance))) {
      throw new GoondanError('E_FENCED', `Node "${this.node}" does not own ${nameOf(instance)}.`);
    }
    if (this.#silentMs() < this.start.leaseMs / 2) return;
    const message = `Node "${this.node}" has had no answer of the database for half a lease.`;
    throw new GoondanError('E_STORE_AWAY', message, { retryable: true });
  }

  /** **Errors** — `E_FENCED` when the place is lost or left. */
  assertPlace(): void {
    this.#isLate();
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#hasLeft) throw new GoondanError('E_FENCED', `Node "${this.node}" has left the swarm.`);
  }

  /** Notes that the database says that the lease has ended. Returns the error for the caller. */
  ended(): GoondanError {
    if (this.#lost === undefined) this.#stoodStill = true;
    return this.#lose(`The lease of node "${this.node}" has ended in the database.`);
  }

  /** Claims an instance. If others have less load, they hear of it first. */
  async claim(instance: AgentAddress): Promise<boolean> {
    return this.#tasks.run(addressKey(instance), async () => {
      this.assertPlace();
      if (this.owns(instance)) return true;
      const waitMs = this.claimDelayMs();
      if (waitMs > 0 || !this.accepts(instance.agentName)) await this.#offer(instance);
      if (waitMs > 0) await sleep(this.start.clock, waitMs);
      return this.#claim(instance);
    });
  }

  /** Claims an instance that all nodes have heard of. The caller has waited for `claimDelayMs`. */
  async claimHeard(instance: AgentAddress): Promise<boolean> {
    return this.#tasks.run(addressKey(instance), () => this.#claim(instance));
  }

  /** The time to wait before this node claims an instance that other nodes could claim, too. */
  claimDelayMs(): number {
    return claimDelayMs(this.id, this.#load(), this.#nodes);
  }

  /** Returns the epoch of an own instance. **Errors** — `E_FENCED`. */
  epochOf(instance: AgentAddress): number {
    this.assertPlace();
    const epoch = this.#claims.get(addressKey(instance));
    if (epoch !== undefined) return epoch;
    throw new GoondanError('E_FENCED', `Node "${this.node}" does not own ${nameOf(instance)}.`);
  }

  takeNewEpoch(instance: AgentAddress): number | undefined {
    const key = addressKey(instance);
    return this.#newClaims.delete(key) ? this.#claims.get(key) : undefined;
  }

  owns(instance: AgentAddress): boolean {
    return this.ownsKey(addressKey(instance));
  }

  ownsKey(key: string): boolean {
    return this.#claims.has(key);
  }

  async release(instance: AgentAddress): Promise<void> {
    await this.#tasks.run(addressKey(instance), async () => {
      const epoch = this.#claims.get(addressKey(instance));
      if (epoch === undefined) return;
      await this.beforeRelease(instance);
      this.#claims.delete(addressKey(instance));
      this.#newClaims.delete(addressKey(instance));
      await releaseInstance(this.#patient, this.id, instance, epoch);
    });
  }

  /** Notes that the rows of an instance are gone. The next claim of it asks the database. */
  forget(instance: AgentAddress): void {
    this.#claims.delete(addressKey(instance));
  }

  /**
   * Notes that this node does not own an instance any more, because the database refused a write of it. An `epoch` of an
   * earlier claim changes nothing. Returns true if the instance was lost now.
   */
  loseInstance(instance: AgentAddress, error: GoondanError, epoch?: number): boolean {
    const owned = this.#claims.get(addressKey(instance));
    if (owned === undefined || (epoch !== undefined && epoch !== owned)) return false;
    this.#claims.delete(addressKey(instance));
    if (this.#lostInstances.size < MOST_LOST) this.#lostInstances.set(addressKey(instance), [error, instance]);
    for (const listener of this.#lostListeners) listener(error, instance);
    return true;
  }

  onLost(listener: LostListener): void {
    this.#lostListeners.push(listener);
    for (const loss of this.#lostInstances.values()) listener(...loss);
    if (this.#lost !== undefined) listener(this.#lost);
  }

  async ownerOf(instance: AgentAddress): Promise<LivingNode | undefined> {
    if (!this.isOver && this.owns(instance)) return this.#nodes.find(({ id }) => id === this.id);
    const [row] = await this.#patient.database.query<{ readonly owner: string }>(
      `select i.owner from gdn_instance i join gdn_node n on n.swarm = i.swarm and n.id = i.owner
where i.swarm = $1 and i.agent = $2 and i.key = $3 and n.lease_until > clock_timestamp()`,
      [this.rows.swarm, instance.agentName, instance.instanceKey],
    );
    if (row === undefined) return undefined;
    const known = this.#nodes.find(({ id }) => id === row.owner);
    return known ?? (await listNodes(this.rows)).find(({ id }) => id === row.owner);
  }

  /** Lists the nodes that the last renewal found, with the own counts as they are now; asks again if the own lease is over. */
  async nodes(): Promise<readonly LivingNode[]> {
    if (this.isOver) return listNodes(this.rows);
    return this.#nodes.map((node) => (node.id === this.id ? { ...node, ...this.#facts() } : node));
  }

  setLoad(count: () => number): void {
    this.#load = count;
  }

  refuseAgents(names: ReadonlySet<string>): void {
    this.#refused = names;
  }

  /** Returns true if this node may claim instances of the agent. */
  accepts(agentName: string): boolean {
    return !this.isGivingUp && !this.#refused.has(agentName);
  }

  onDrain(listener: () => void): void {
    this.#drainListeners.push(listener);
    if (this.#isDraining) listener();
  }

  /** Notes what the database says about this node. */
  heardDraining(isDraining: boolean): void {
    if (!isDraining || this.#isDraining) return;
    this.#isDraining = true;
    for (const listener of this.#drainListeners) listener();
  }

  onFailover(listener: FailoverListener): void {
    this.#failover.listen(listener);
  }

  drain(name: string): Promise<void> {
    return drainNode(this.rows, name);
  }

  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  /** Renews the lease, and then again each third of it. */
  async renew(): Promise<void> {
    if (this.isOver || this.#isLate()) return;
    const { leaseMs, clock } = this.start;
    const sentAt = clock.elapsed();
    const facts = this.#facts();
    const renewed = await waitAtMost(clock, leaseMs / 3, renewLease(this.rows, this.id, leaseMs, facts)).catch(
      () => undefined,
    );
    if (this.isOver || this.#isLate()) return;
    // A renewal without an answer is tried again soon: the next one may use another connection, or another server.
    if (renewed === undefined) return this.#renewAfter(leaseMs / 10);
    if (renewed.own === undefined) {
      this.ended();
      return;
    }
    this.#sentAt = sentAt;
    this.#failover.compare(this.#nodes, renewed.nodes);
    this.#nodes = renewed.nodes;
    this.#renewAfter(leaseMs / 3);
    this.heardDraining(renewed.own.isDraining);
  }

  #facts(): Pick<LivingNode, 'load' | 'instances'> {
    return { load: this.#load(), instances: this.#claims.size };
  }

  async #leave(): Promise<void> {
    await this.#tasks.settled();
    if (this.#lost === undefined) await this.beforeRelease();
    this.#hasLeft = true;
    this.#stop();
    this.#claims.clear();
    if (this.#lost === undefined) await endLease(this.rows, this.id);
  }

  async #claim(instance: AgentAddress): Promise<boolean> {
    this.assertPlace();
    if (this.owns(instance)) return true;
    if (!this.accepts(instance.agentName)) return false;
    const { epoch, isNew, isLiving, takenFrom } = await claimInstance(this.#patient, this.id, instance).finally(() =>
      this.assertPlace(),
    );
    if (!isLiving) throw this.ended();
    if (epoch === undefined) return false;
    this.#claims.set(addressKey(instance), epoch);
    if (isNew === true) this.#newClaims.add(addressKey(instance));
    else this.#newClaims.delete(addressKey(instance));
    this.#lostInstances.delete(addressKey(instance));
    this.#failover.claimed(instance, takenFrom);
    return true;
  }

  /** Tells the other nodes of an instance that they could claim, too. */
  async #offer({ agentName, instanceKey }: AgentAddress): Promise<void> {
    if (this.rows.channel === undefined || this.#nodes.length < 2) return;
    const hint = freeHint(this.rows.channel, '$1::text', '$2::text');
    // It is only a hint: if it fails, the scans of the other nodes find the instance.
    await this.start.work.query(`select ${hint}`, [agentName, instanceKey]).catch(() => undefined);
  }

  #silentMs(): number {
    return this.start.clock.elapsed() - this.#sentAt;
  }

  /** Returns true, and the place is lost, if the lease may have ended (invariant 2). */
  #isLate(): boolean {
    const { leaseMs } = this.start;
    const silentMs = this.#silentMs();
    if (this.isOver || silentMs < leaseMs * LOST_AFTER) return false;
    this.#stoodStill = silentMs > leaseMs * (LOST_AFTER + STOOD_STILL);
    this.#lose(`Node "${this.node}" has had no answer of the database for the time of its lease.`);
    return true;
  }

  #renewAfter(ms: number): void {
    const { clock, leaseMs } = this.start;
    this.#stop();
    this.#callOffRenewal = clock.after(ms, () => void this.renew());
    const leftMs = leaseMs * LOST_AFTER - this.#silentMs();
    this.#callOffEnd = clock.after(Math.max(0, leftMs), () => void this.#isLate());
  }

  #stop(): void {
    this.#callOffRenewal();
    this.#callOffEnd();
  }

  #lose(message: string): GoondanError {
    if (this.#lost !== undefined) return this.#lost;
    this.#lost = new GoondanError('E_FENCED', message);
    this.#stop();
    this.#claims.clear();
    for (const listener of this.#lostListeners) listener(this.#lost);
    return this.#lost;
  }
}

function nameOf({ agentName, instanceKey }: AgentAddress): string {
  return `the instance ${JSON.stringify(instanceKey)} of agent "${agentName}"`;
}
