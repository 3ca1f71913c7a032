/** Nodes with PostgreSQL, for the sections of the benchmark `cluster`. */
import { openPostgresReader } from '../packages/postgres/src/store/open-reader.ts';
import { type Cluster, startCluster } from '../test/cluster/start-cluster.ts';

/** Long enough that no node of a busy machine loses its place. */
const LEASE_SECONDS = 10;

export interface NodesOptions {
  readonly bundleFolder: string;
  /** The name of the swarm in the bundle. */
  readonly swarm: string;
  readonly address: string;
  readonly nodes: number;
  readonly leaseSeconds?: number;
}

export function startNodes({
  address,
  leaseSeconds = LEASE_SECONDS,
  swarm,
  ...options
}: NodesOptions): Promise<Cluster> {
  const openReader = () => openPostgresReader({ address, swarm });
  return startCluster({ ...options, swarm, store: address, openReader, leaseSeconds });
}

export function print(name: string, figure: string): void {
  console.log(`  ${name.padEnd(60)} ${figure}`);
}
