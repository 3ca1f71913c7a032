/** S-01: ten scenarios on one node with files, one node with PostgreSQL and three nodes with PostgreSQL are equal. */
import { compareOutcomes, type Outcome, readOutcome } from '../../test/cluster/read-outcome.ts';
import { scenarios } from '../../test/cluster/scenarios.ts';
import { type Cluster, startCluster } from '../../test/cluster/start-cluster.ts';
import { startOwnDatabase } from '../../test/cluster/own-database.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, startNodes } from './shared.ts';

/** Nothing is disturbed here, so no node may lose its place, on a busy machine either. */
const LEASE_SECONDS = 10;

export const proveScenarios: Proof = { name: 'scenarios', needsWorld: false, run };

interface Seen {
  readonly answers: string;
  readonly outcome: Outcome;
}

async function run({ say }: ProofContext): Promise<Findings> {
  const files = await runAll(() => startCluster({ bundleFolder: BUNDLE }));
  const problems: string[] = [];
  for (const nodes of [1, 3]) {
    await using database = await startOwnDatabase();
    const found = await runAll(() => startNodes(database.address, nodes, { leaseSeconds: LEASE_SECONDS }));
    const name = `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
    if (found.answers !== files.answers) problems.push(`${name}: other answers: ${found.answers}`);
    problems.push(...compareOutcomes(files.outcome, found.outcome).map((difference) => `${name}: ${difference}`));
    say(`${name} with PostgreSQL compared with 1 node with files`);
  }
  const conversations = Object.keys(files.outcome.conversations).length;
  return { figures: { scenarios: scenarios.length, conversations, traces: files.outcome.traces.length }, problems };
}

async function runAll(start: () => Promise<Cluster>): Promise<Seen> {
  await using cluster = await start();
  const answers: unknown[] = [];
  for (const scenario of scenarios) answers.push([scenario.name, await scenario.run(cluster)]);
  const reader = cluster.openReader();
  const outcome = await readOutcome(reader);
  await reader.close();
  return { answers: JSON.stringify(answers), outcome };
}
