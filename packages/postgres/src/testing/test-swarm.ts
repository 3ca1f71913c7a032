/** A swarm for tests of nodes: its rows in a database, clocks that a test stops and moves, and the end of a lease. */
import { type Clock, systemClock } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import { type Database, openDatabase } from '../driver/database.ts';
import { joinNodes, type NodePlacement } from '../nodes/placement.ts';
import type { PlacementOptions } from '../nodes/placement-options.ts';
import { channelOf } from '../store/wake-channel.ts';
import { makeTestDatabase } from './test-database.ts';
import { afterAll, afterEach, beforeEach } from './with-postgres.ts';

export interface TestSwarm {
  readonly database: Database;
  readonly swarm: string;
  readonly channel: string;
  join(name: string, options?: Partial<PlacementOptions>): Promise<NodePlacement>;
  /** Ends a lease in the database, as its time would. */
  endLease(placement: NodePlacement): Promise<void>;
  /** Adds input as another node would. */
  addInput(instance: AgentAddress, input: TestInput): Promise<void>;
  end(): Promise<void>;
}

export interface TestInput {
  readonly seq: number;
  readonly eventId: string;
  readonly caller?: AgentAddress;
}

let swarms = 0;

/** Opens a function that makes swarms in one database. */
export async function openTestSwarms(): Promise<{
  readonly address: string;
  make(): TestSwarm;
  end(): Promise<void>;
}> {
  const made = await makeTestDatabase();
  const database = openDatabase(made.address);
  return {
    address: made.address,
    make: () => makeSwarm(database),
    async end() {
      await database.close();
      await made.drop();
    },
  };
}

/** Opens a swarm that is another one in each test of a file. `close` runs after each test, before the nodes leave. */
export async function openSwarmPerTest(
  close: () => Promise<void> = async () => undefined,
): Promise<TestSwarm & { readonly address: string }> {
  const made = await openTestSwarms();
  let current = made.make();
  beforeEach(() => {
    current = made.make();
  });
  afterEach(async () => {
    await close();
    await current.end();
  });
  afterAll(() => made.end());
  return {
    address: made.address,
    get database() {
      return current.database;
    },
    get swarm() {
      return current.swarm;
    },
    get channel() {
      return current.channel;
    },
    join: (...given) => current.join(...given),
    endLease: (...given) => current.endLease(...given),
    addInput: (...given) => current.addInput(...given),
    end: () => current.end(),
  };
}

function makeSwarm(database: Database): TestSwarm {
  const swarm = `swarm ${++swarms}`;
  const channel = channelOf(swarm);
  const joined: NodePlacement[] = [];
  return {
    database,
    swarm,
    channel,
    async join(name, options = {}) {
      // An earlier node of this name has ended.
      const start = `start of ${name}`;
      const facts = { name, start, ended: [start], version: '0.1.0' };
      const placement = await joinNodes({ database, swarm, channel, facts, leaseMs: 60_000, ...options });
      joined.push(placement);
      return placement;
    },
    async endLease({ id }) {
      await database.query(`update gdn_node set lease_until = clock_timestamp() where swarm = $1 and id = $2`, [
        swarm,
        id,
      ]);
    },
    async addInput({ agentName, instanceKey }, { seq, eventId, caller }) {
      await database.query(
        `with instance as (
  insert into gdn_instance (swarm, agent, key, last_input) values ($1, $2, $3, $4)
  on conflict (swarm, agent, key) do update set last_input = $4
)
insert into gdn_inbox (swarm, agent, key, seq, event_id, attempt, event, caller_agent, caller_key)
values ($1, $2, $3, $4, $5, $5, '{}', $6, $7)`,
        [swarm, agentName, instanceKey, seq, eventId, caller?.agentName ?? null, caller?.instanceKey ?? null],
      );
    },
    async end() {
      for (const placement of joined) await placement.leave();
    },
  };
}

export interface TestClock extends Clock {
  /** Stops the timers, as a process that is stopped by a signal. */
  freeze(): void;
  /** Moves the clocks. */
  jump(by: { readonly date?: number; readonly elapsed?: number }): void;
}

export function makeTestClock(): TestClock {
  let [date, elapsed, isFrozen] = [0, 0, false];
  return {
    now: () => new Date(systemClock.now().getTime() + date),
    elapsed: () => systemClock.elapsed() + elapsed,
    after: (ms, action) => systemClock.after(ms, () => (isFrozen ? undefined : action())),
    freeze: () => {
      isFrozen = true;
    },
    jump: (by) => {
      date += by.date ?? 0;
      elapsed += by.elapsed ?? 0;
    },
  };
}
