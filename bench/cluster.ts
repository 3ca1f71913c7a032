/**
 * A swarm on PostgreSQL beside the same swarm on files: the time of a turn, its processor time, its statements, the time
 * of a take-over, and three nodes beside one. Both sides run `gdn run` and are asked over their control sockets.
 */
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Swarm } from '@goondan/runtime';
import { type Database, openDatabase } from '../packages/postgres/src/driver/database.ts';
import { withDescendants } from '../test/cluster/disturb.ts';
import { type OwnDatabase, startOwnDatabase } from '../test/cluster/own-database.ts';
import { type Cluster, startCluster } from '../test/cluster/start-cluster.ts';
import { print, startNodes } from './cluster-nodes.ts';
import { measurePrimary } from './cluster-primary.ts';
import { measureSleepers } from './cluster-sleepers.ts';
import { measureTakeOver } from './cluster-take-over.ts';
import type { Figures } from './figures.ts';
import { medianOf } from './measure.ts';
import { processorMs } from './process-use.ts';
import { SWARM, writeSwarmBundle } from './swarm-bundle.ts';

const ROUNDS = 5;
const TURNS = 100;
const WARM_UPS = 100;
const KEYS = 300;
const TURNS_OF_KEYS = 1_500;
/** Turns of each node before the measured ones: a cold node takes twice the processor time. */
const WARM_UPS_OF_NODE = 900;
const MODEL_LATENCY_MS = 50;

export async function benchCluster(): Promise<Figures> {
  const figures: Record<string, number> = {};
  const bundle = writeSwarmBundle({ trace: 'off' });
  const slow = writeSwarmBundle({ trace: 'off', isolation: 'agent', latencyMs: MODEL_LATENCY_MS });
  try {
    await using database = await startOwnDatabase({ shared_preload_libraries: 'pg_stat_statements' });
    const counter = openDatabase(database.address, { connections: 1 });
    await counter.query('create extension if not exists pg_stat_statements');
    console.log('\ncluster: a swarm on PostgreSQL beside the same swarm on files');
    Object.assign(figures, await compareTurns(bundle, database, counter));
    Object.assign(figures, await measureTakeOver());
    Object.assign(figures, await compareNodes(slow));
    Object.assign(figures, await measurePrimary());
    Object.assign(figures, await measureSleepers(bundle));
    await counter.close();
  } finally {
    for (const folder of [bundle, slow]) rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}

async function compareTurns(bundleFolder: string, database: OwnDatabase, counter: Database): Promise<Figures> {
  await using files = await startCluster({ bundleFolder });
  await using nodes = await startNodes({ bundleFolder, swarm: SWARM, address: database.address, nodes: 1 });
  const sides = [files, nodes] as const;
  const times = [[], []] as [number[], number[]];
  for (const cluster of sides) await askInTurn(cluster.at(0), WARM_UPS);
  const used = sides.map(() => ({ node: 0, agents: 0, database: 0 }));
  const before = await countWork(counter);
  const startedAt = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [side, cluster] of sides.entries()) {
      const first = useOf(cluster, database);
      times[side]?.push(...(await askInTurn(cluster.at(0), TURNS)));
      const last = useOf(cluster, database);
      const sum = used[side];
      if (sum === undefined) continue;
      for (const part of ['node', 'agents', 'database'] as const) sum[part] += last[part] - first[part];
    }
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const turns = ROUNDS * TURNS;
  const idle = await countIdle(counter);
  const work = difference(await countWork(counter), before, idle, seconds);
  const [filesMs, storeMs] = [medianOf(times[0]), medianOf(times[1])];
  print('one-step turn on files, p50', `${filesMs.toFixed(2)} ms`);
  print('one-step turn on PostgreSQL, p50', `${storeMs.toFixed(2)} ms   ${(storeMs / filesMs).toFixed(2)}×`);
  for (const [side, name] of ['files', 'PostgreSQL'].entries()) {
    const { node = 0, agents = 0, database: base = 0 } = used[side] ?? {};
    const part = (ms: number) => `${(ms / turns).toFixed(2)} ms`;
    print(`processor time of a turn on ${name}`, `node ${part(node)}, agent ${part(agents)}, database ${part(base)}`);
  }
  print(
    'statements and commits of a turn',
    `${(work.statements / turns).toFixed(2)}, ${(work.commits / turns).toFixed(2)}`,
  );
  print('statements a second of an idle node', idle.statements.toFixed(1));
  return {
    'cluster.turn': storeMs / filesMs,
    'cluster.engine': ((used[1]?.node ?? 0) + (used[1]?.database ?? 0)) / turns,
    'cluster.statements': work.statements / turns,
    'cluster.commits': work.commits / turns,
  };
}

/** Sends turns of one conversation, one after the other. Returns the milliseconds of each. */
async function askInTurn(swarm: Swarm, turns: number): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const startedAt = performance.now();
    const { result } = await swarm.ask({ instanceKey: 'one', input: 'Hello' });
    if (result.finishReason === 'error') throw new Error(result.error?.message);
    times.push(performance.now() - startedAt);
  }
  return times;
}

interface Use {
  readonly node: number;
  readonly agents: number;
  readonly database: number;
}

function useOf(cluster: Cluster, database: OwnDatabase): Use {
  const pid = cluster.nodes[0]?.pid ?? 0;
  const [, ...children] = withDescendants(pid);
  const sum = (pids: readonly number[]) => pids.reduce((total, each) => total + processorMs(each), 0);
  return { node: processorMs(pid), agents: sum(children), database: sum(withDescendants(database.pid)) };
}

interface Work {
  readonly statements: number;
  readonly commits: number;
}

async function countWork(counter: Database): Promise<Work> {
  const [row] = await counter.query<{ statements: number; commits: number }>(
    `select (select sum(calls)::bigint from pg_stat_statements where query like '%gdn\\_%') as statements,
      (select xact_commit from pg_stat_database where datname = current_database()) as commits`,
  );
  return { statements: row?.statements ?? 0, commits: row?.commits ?? 0 };
}

const IDLE_SECONDS = 4;

/** The work of a node that has nothing to do, a second: renewals and scans. */
async function countIdle(counter: Database): Promise<Work> {
  // PostgreSQL shows its counts with a delay of up to a second.
  await Bun.sleep(1_500);
  const before = await countWork(counter);
  await Bun.sleep(IDLE_SECONDS * 1_000);
  const after = await countWork(counter);
  return {
    statements: (after.statements - before.statements) / IDLE_SECONDS,
    commits: (after.commits - before.commits) / IDLE_SECONDS,
  };
}

function difference(after: Work, before: Work, idle: Work, seconds: number): Work {
  const waited = seconds + IDLE_SECONDS + 1.5;
  return {
    statements: after.statements - before.statements - idle.statements * waited,
    commits: after.commits - before.commits - idle.commits * waited,
  };
}

/**
 * Compares the turns a second of one node and of three nodes, with a model that takes its time. On one machine all nodes
 * share its processors, so the processor time of a turn says more: if it stays the same, three machines do three times the work.
 */
async function compareNodes(bundleFolder: string): Promise<Figures> {
  const rates: number[] = [];
  const uses: number[] = [];
  for (const nodes of [1, 3]) {
    await using database = await startOwnDatabase();
    await using cluster = await startNodes({ bundleFolder, swarm: SWARM, address: database.address, nodes });
    await sendAll(cluster, WARM_UPS_OF_NODE * nodes);
    const usedBefore = useOfAll(cluster, database);
    const startedAt = performance.now();
    await sendAll(cluster, TURNS_OF_KEYS);
    const [rate, use] = [
      TURNS_OF_KEYS / ((performance.now() - startedAt) / 1_000),
      (useOfAll(cluster, database) - usedBefore) / TURNS_OF_KEYS,
    ];
    rates.push(rate);
    uses.push(use);
    const note = `model ${MODEL_LATENCY_MS} ms, ${KEYS} conversations`;
    const name = `turns a second, ${nodes} ${nodes === 1 ? 'node' : 'nodes'} (${note})`;
    print(name, `${rate.toFixed(0)}/s, ${use.toFixed(2)} ms processor time a turn`);
  }
  const ratio = (rates[1] ?? 0) / (rates[0] ?? 1);
  const useRatio = (uses[1] ?? 0) / (uses[0] ?? 1);
  print(`three nodes to one node, all on ${availableParallelism()} processors`, `${ratio.toFixed(2)}×`);
  print('three nodes to one node, processor time of a turn', `${useRatio.toFixed(2)}×`);
  return { 'cluster.nodes': ratio };
}

function useOfAll({ nodes }: Cluster, database: OwnDatabase): number {
  const pids = [...nodes.map(({ pid }) => pid), database.pid].flatMap(withDescendants);
  return pids.reduce((total, pid) => total + processorMs(pid), 0);
}

/** Sends turns to all conversations at the same time; each conversation has one turn at a time. */
async function sendAll(cluster: Cluster, turns: number): Promise<void> {
  let next = 0;
  const send = async (key: number) => {
    while (next < turns) {
      next += 1;
      const { result } = await cluster.at(key).ask({ instanceKey: `key-${key}`, input: 'Hello' });
      if (result.finishReason === 'error') throw new Error(result.error?.message);
    }
  };
  await Promise.all(Array.from({ length: KEYS }, (_, key) => send(key)));
}
