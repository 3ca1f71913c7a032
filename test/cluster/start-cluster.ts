/**
 * Starts a swarm on one node with files, or on nodes with PostgreSQL, each in a process of its own. Each node has a state
 * root of its own, as if it were another machine; all have the same working folder, as a shared mount.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectSwarm, type Swarm } from '@goondan/runtime';
import { openStoreReader, type StoreReader } from '@goondan/runtime/history';
import { openDatabase } from '../../packages/postgres/src/driver/database.ts';
import { addToken } from '../../packages/postgres/src/nodes/tokens.ts';
import { makeTables } from '../../packages/postgres/src/schema/make-tables.ts';
import type { NodeStart } from './node-process.ts';

export interface StartedNode {
  readonly name: string;
  /** The process of the node. */
  readonly pid: number;
  readonly swarm: Swarm;
  readonly stateRoot: string;
  /** Sends SIGKILL to the node. Its agent processes end with it. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Returns everything that the node has printed. */
  readonly output: () => string;
}

export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly StartedNode[];
  /** The folder in which tools work. */
  readonly work: string;
  /** The handle of a node: the first for 0, and so on, around the living ones. */
  at(index: number): Swarm;
  /** Starts a node again that has ended. */
  restart(node: StartedNode): Promise<StartedNode>;
  openReader(): StoreReader;
}

export interface ClusterOptions {
  readonly bundleFolder: string;
  /** The name of the swarm in the store; that of `bundle` when absent. */
  readonly swarm?: string;
  /** The address of the store; files when absent. */
  readonly store?: string;
  /** How to read a store that is not on files. */
  readonly openReader?: (swarm: string) => StoreReader;
  readonly nodes?: number;
  readonly leaseSeconds?: number;
  /** The command before that of a node, for example to run it at another machine. */
  readonly prefix?: (name: string) => readonly string[];
  /** The address of the control port of a node; loopback when absent. */
  readonly listen?: (name: string) => string;
  /** The environment of a node, beside that of this process. */
  readonly env?: (name: string) => Readonly<Record<string, string>>;
}

const START_LIMIT_MS = 60_000;
/** The name of the swarm in `bundle`. */
const SWARM = 'scenarios';

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-cluster-'));
  const work = join(folder, 'work');
  mkdirSync(work);
  const running: StartedNode[] = [];
  const cluster: Cluster = {
    nodes: running,
    work,
    at(index) {
      const node = running[index % running.length];
      if (node === undefined) throw new Error('No node runs.');
      return node.swarm;
    },
    async restart(node) {
      const started = await startNode(node.name, folder, options);
      running[running.indexOf(node)] = started;
      return started;
    },
    openReader() {
      if (options.store !== undefined && options.openReader !== undefined)
        return options.openReader(options.swarm ?? SWARM);
      const stateRoot = join(folder, 'node-1');
      return openStoreReader({ stateRoot, workspaceId: workspaceIn(stateRoot) ?? '', warn: () => undefined });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((node) => node.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    if (options.store !== undefined) await initStore(options.store);
    // The first node deploys the bundle, so the others come after it.
    for (let index = 1; index <= (options.nodes ?? 1); index++)
      running.push(await startNode(`node-${index}`, folder, options));
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

/** The token of the nodes and of their clients. */
const TOKEN = 'only-the-nodes-of-a-test-know-this-token-0123456789';

function environmentOf(store: string | undefined): Record<string, string> {
  return store === undefined ? {} : { GOONDAN_STORE: store, GOONDAN_CLUSTER_TOKEN: TOKEN };
}

/** Makes the tables and the token, unless the store has them. */
export async function initStore(store: string): Promise<void> {
  const database = openDatabase(store, { connections: 1 });
  try {
    await makeTables(database);
    await addToken(database, { name: 'test', scope: 'operate', token: TOKEN });
  } finally {
    await database.close();
  }
}

async function startNode(name: string, folder: string, options: ClusterOptions): Promise<StartedNode> {
  const { bundleFolder, store, leaseSeconds = 1, prefix = () => [], env = () => ({}), listen } = options;
  const stateRoot = join(folder, name);
  const work = join(folder, 'work');
  const reached = listen === undefined ? {} : { listen: listen(name) };
  const start: NodeStart = {
    name,
    bundleFolder,
    stateRoot,
    work,
    swarm: options.swarm ?? SWARM,
    leaseSeconds,
    ...reached,
  };
  const run = [process.execPath, '--no-install', join(import.meta.dir, 'node-process.ts'), JSON.stringify(start)];
  const [program = '', ...args] = [...prefix(name), ...run];
  const child = spawn(program, args, {
    cwd: work,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environmentOf(store), ...env(name) },
  });
  const printed = collect(child);
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  return {
    name,
    pid: child.pid ?? 0,
    stateRoot,
    swarm: await connect(child, stateRoot, printed),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(late);
    },
    output: () => printed.join(''),
  };
}

function collect({ stdout, stderr }: ChildProcess): string[] {
  const printed: string[] = [];
  for (const stream of [stdout, stderr]) stream?.on('data', (data: Buffer) => void printed.push(data.toString()));
  return printed;
}

/** Connects to the control socket of a node when the node serves it. */
async function connect(child: ChildProcess, stateRoot: string, printed: readonly string[]): Promise<Swarm> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`The node did not start: ${printed.join('')}`);
    }
    const workspaceId = workspaceIn(stateRoot);
    try {
      if (workspaceId !== undefined) return await connectSwarm({ stateRoot, workspaceId });
    } catch {
      // It does not serve yet.
    }
    await Bun.sleep(20);
  }
}

function workspaceIn(stateRoot: string): string | undefined {
  try {
    return readdirSync(join(stateRoot, 'workspaces'))[0];
  } catch {
    return undefined;
  }
}

/** Counts how often each effect has begun and ended. */
export function readEffects({ work }: Pick<Cluster, 'work'>): ReadonlyMap<string, { begun: number; ended: number }> {
  const effects = new Map<string, { begun: number; ended: number }>();
  let text = '';
  try {
    text = readFileSync(join(work, 'effects.log'), 'utf8');
  } catch {
    return effects;
  }
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [what = '', quoted = '""'] = line.split(' ');
    const job = String(JSON.parse(quoted));
    const counts = effects.get(job) ?? { begun: 0, ended: 0 };
    effects.set(job, counts);
    counts[what === 'begun' ? 'begun' : 'ended'] += 1;
  }
  return effects;
}
