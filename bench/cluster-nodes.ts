/** Nodes with PostgreSQL, for the sections of the benchmark `cluster`. */
import { openPostgresReader } from '../packages/postgres/src/store/open-reader.ts';
import { type Cluster, startCluster } from '../test/cluster/start-cluster.ts';

export const LEASE_SECONDS = 2;

export function startNodes(bundleFolder: string, address: string, nodes: number): Promise<Cluster> {
  const openReader = (swarm: string) => openPostgresReader({ address, swarm });
  return startCluster({ bundleFolder, store: address, openReader, nodes, leaseSeconds: LEASE_SECONDS });
}

export function print(name: string, figure: string): void {
  console.log(`  ${name.padEnd(60)} ${figure}`);
}
