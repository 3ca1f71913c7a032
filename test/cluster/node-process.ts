/**
 * Runs a node in a process of its own, which a test kills. The first argument is a JSON text with `NodeStart`. The address
 * of the store and the token come from the environment, as for `gdn run`.
 */
import { startHere } from '@goondan/runtime/internal';
import { postgresSource } from '../../packages/postgres/src/cluster-source.ts';

export interface NodeStart {
  readonly name: string;
  readonly bundleFolder: string;
  readonly stateRoot: string;
  readonly work: string;
  readonly swarm: string;
  readonly leaseSeconds: number;
  readonly listen?: string;
}

if (import.meta.main) {
  // Safe: `start-cluster.ts` wrote it.
  const start = JSON.parse(process.argv[2] ?? '') as NodeStart;
  const { name, bundleFolder, stateRoot, work, swarm, leaseSeconds, listen } = start;
  const { GOONDAN_STORE: address, GOONDAN_CLUSTER_TOKEN: token = '' } = process.env;
  const report = (problem: string) => void process.stderr.write(`${problem}\n`);
  const source = address && postgresSource({ address, swarm, leaseMs: leaseSeconds * 1_000 });
  const cluster = source ? { cluster: { source, node: name, token, ...(listen === undefined ? {} : { listen }) } } : {};
  const running = await startHere({
    bundleFolder,
    workdir: work,
    stateRoot,
    onLog: (line) => report(JSON.stringify(line)),
    ...cluster,
  });
  process.on('SIGTERM', () => void running.stop({ graceMs: 500 }));
  await running.stopped;
  process.exit(0);
}
