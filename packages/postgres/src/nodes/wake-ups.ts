/**
 * Wakes the instances of a node that have input from elsewhere.
 *
 * Invariants:
 * 1. The scan each second decides. A hint only makes things happen earlier; without hints everything happens, too.
 * 2. The listener is told of the input of an own instance, and again for new input or a new cancel mark.
 * 3. Instances without a living owner are claimed a few at a time, after a delay in proportion to the load.
 * 4. A scan that takes long comes less often, so that a long queue of input does not keep the database busy.
 */
import { addressKey, type Clock, sleep, systemClock } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { readWakeUp } from '../store/wake-channel.ts';
import { freeOrphans } from './node-rows.ts';
import type { NodePlacement } from './placement.ts';
import { type PendingInput, scan, type Scan } from './scan.ts';
import type { SwarmRows } from './swarm-rows.ts';
import { ToldInput } from './told-input.ts';

export interface WakeUpsOptions extends SwarmRows {
  readonly database: Pick<Database, 'query' | 'listen'>;
  readonly placement: NodePlacement;
  /** Called for an own instance that has input, or a cancel mark, from elsewhere. */
  readonly onInput: (instance: AgentAddress) => void;
  /** Called when an answer for an instance of this node may be there. */
  readonly onAnswer: () => void;
  readonly onQuestion: () => void;
  /** Called by each scan with the deployed bundle. */
  readonly onDeployed: (deployed: NonNullable<Scan['deployed']>) => void;
  /** Called for an error of the scan that is not just a store that is away. */
  readonly report?: (error: GoondanError) => void;
  readonly clock?: Clock;
  readonly scanMs?: number;
}

const SCAN_MS = 1000;
/** A scan is followed by a pause of so many times its own duration, at least. */
const REST = 5;
/** The most claims at a time, and the most instances that wait for one; the next scan finds the others. */
const MOST_CLAIMS = 8;
const MOST_WAITING = 10_000;
const LISTEN_AGAIN_MS = 5000;

export class WakeUps {
  readonly #clock: Clock;
  readonly #told = new ToldInput();
  /** Instances to claim, by key. One that is being claimed stays until it is done. */
  readonly #free = new Map<string, AgentAddress>();
  readonly #claiming = new Set<string>();
  #claimers = 0;
  #listening: { end(): Promise<void> } | undefined;
  #callOffScan = () => {};
  #callOffListen = () => {};
  #scanning: Promise<void> | undefined;
  #isScanWanted = false;
  #isClosed = false;

  constructor(private readonly options: WakeUpsOptions) {
    this.#clock = options.clock ?? systemClock;
  }

  /** Begins to scan and to listen. */
  start(): void {
    void this.#listen();
    void this.scan();
  }

  /** Scans now, or once more after the scan under way. */
  scan(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#isScanWanted = this.#scanning !== undefined;
    this.#scanning ??= this.#scanOnce().finally(() => {
      this.#scanning = undefined;
      if (this.#isScanWanted) void this.scan();
    });
    return this.#scanning;
  }

  /** Notes an event that this node has accepted itself, so that it is not told of it. */
  accepted(instance: AgentAddress, seq: number): void {
    const { placement } = this.options;
    if (!this.#isOver && placement.owns(instance)) this.#told.accepted(instance, placement.epochOf(instance), seq);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOffScan();
    this.#callOffListen();
    await this.#scanning;
    await this.#listening?.end().catch(() => undefined);
  }

  get #isOver(): boolean {
    return this.#isClosed || this.options.placement.isOver;
  }

  async #listen(): Promise<void> {
    const { channel, database } = this.options;
    if (channel === undefined || this.#isOver) return;
    try {
      this.#listening = await database.listen(channel, (payload) => this.#heard(payload));
      if (this.#isClosed) await this.#listening.end();
    } catch {
      // The scan goes on without hints (invariant 1).
      this.#callOffListen = this.#clock.after(LISTEN_AGAIN_MS, () => void this.#listen());
    }
  }

  #heard(payload: string): void {
    if (this.#isOver) return;
    const { placement, onQuestion, onAnswer, onInput } = this.options;
    const wakeUp = readWakeUp(payload);
    if (wakeUp?.type === 'approval') return onQuestion();
    if (wakeUp === undefined) return void this.scan();
    const isForMe = wakeUp.node === placement.id;
    if (wakeUp.type === 'answer') return isForMe ? onAnswer() : undefined;
    if (isForMe && placement.owns(wakeUp.instance)) return onInput(wakeUp.instance);
    if (wakeUp.node === '') this.#takeOver([wakeUp.instance]);
  }

  async #scanOnce(): Promise<void> {
    this.#callOffScan();
    const { scanMs = SCAN_MS, placement, report } = this.options;
    const began = this.#clock.elapsed();
    try {
      const found = await scan(this.options, placement.id);
      if (found.hasOrphans) await freeOrphans(this.options);
      if (!this.#isOver) this.#tell(found);
    } catch (error) {
      if (!GoondanError.is(error)) throw error;
      // A store that is away is asked again by the next scan. The lease decides how long the node waits for it.
      if (error.code !== 'E_STORE_AWAY') report?.(error);
    }
    if (this.#isOver) return;
    const waitMs = Math.max(scanMs, REST * (this.#clock.elapsed() - began));
    this.#callOffScan = this.#clock.after(waitMs, () => void this.scan());
  }

  #tell({ own, free, isDraining, deployed }: Scan): void {
    const { placement, onInput, onDeployed } = this.options;
    placement.heardDraining(isDraining);
    if (deployed !== undefined) onDeployed(deployed);
    const owned: PendingInput[] = [];
    const unclaimed: AgentAddress[] = [];
    for (const input of own) {
      // An instance can have this node as its owner without a claim: the answer of a claim or of a release was lost.
      if (placement.owns(input.instance)) owned.push(input);
      else unclaimed.push(input.instance);
    }
    this.#told.keep((key) => placement.ownsKey(key));
    for (const input of owned) {
      if (this.#told.isNew(input, placement.epochOf(input.instance))) onInput(input.instance);
    }
    this.#takeOver([...unclaimed, ...free]);
  }

  /** Claims instances in any order, so that nodes do not all begin with the same one (invariant 3). */
  #takeOver(instances: readonly AgentAddress[]): void {
    for (const instance of shuffled(instances)) {
      const isWanted = this.options.placement.accepts(instance.agentName) && !this.#claiming.has(addressKey(instance));
      if (isWanted && this.#free.size < MOST_WAITING) this.#free.set(addressKey(instance), instance);
    }
    while (this.#claimers < Math.min(MOST_CLAIMS, this.#free.size)) void this.#claimFree();
  }

  async #claimFree(): Promise<void> {
    this.#claimers += 1;
    const waitMs = this.options.placement.claimDelayMs();
    if (waitMs > 0) await sleep(this.#clock, waitMs);
    for (const [key, instance] of this.#free) {
      this.#free.delete(key);
      this.#claiming.add(key);
      await this.#take(instance);
      this.#claiming.delete(key);
    }
    this.#claimers -= 1;
  }

  async #take(instance: AgentAddress): Promise<void> {
    try {
      if (this.#isOver || !(await this.options.placement.claimHeard(instance))) return;
      if (!this.#isOver) this.options.onInput(instance);
    } catch (error) {
      // The next scan finds the instance again. The placement tells of a lost place.
      if (!GoondanError.is(error)) throw error;
    }
  }
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ item }) => item);
}
