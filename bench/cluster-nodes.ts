/** Nodes with PostgreSQL, for the sections of the benchmark `cluster`. */
import { openPostgresReader } from '../packages/postgres/src/store/open-reader.ts';
import { type Cluster, startCluster } from '../test/cluster/start-cluster.ts';

export const LEASE_SECONDS = 2;

export interface NodesOptions {
  readonly bundleFolder: string;
  /** The name of the swarm in the bundle. */
  readonly swarm: string;
  readonly address: string;
  readonly nodes: number;
}

export function startNodes({ bundleFolder, swarm, address, nodes }: NodesOptions): Promise<Cluster> {
  const openReader = () => openPostgresReader({ address, swarm });
  return startCluster({ bundleFolder, swarm, store: address, openReader, nodes, leaseSeconds: LEASE_SECONDS });
}

export function print(name: string, figure: string): void {
  console.log(`  ${name.padEnd(60)} ${figure}`);
}
