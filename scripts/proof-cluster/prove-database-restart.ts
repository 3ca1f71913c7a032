/** The database is killed and started again, for shorter and for longer than a lease. */
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { drawEvent, runDisturbed, runUndisturbed } from '../../test/cluster/disturb.ts';
import { startOwnDatabase } from '../../test/cluster/own-database.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, LEASE_SECONDS, startNodes, Sum } from './shared.ts';

export const proveDatabaseRestart: Proof = { name: 'database', needsWorld: false, run };

const ROUNDS = 10;

async function run({ seed }: ProofContext): Promise<Findings> {
  const undisturbed = await runUndisturbed(BUNDLE);
  await using database = await startOwnDatabase();
  await using cluster = await startNodes(database.address, 3);
  const sum = new Sum();
  for (let round = 1; round <= ROUNDS; round++) {
    const random = seededRandom(seed, round);
    const disturbed = await runDisturbed(cluster, `d${round}`, undisturbed, {
      afterEvents: drawEvent(random),
      async disturb() {
        await database.kill();
        await Bun.sleep(LEASE_SECONDS * 1_000 * random.pick([0.1, 0.8, 2.5]));
        await database.start();
      },
    });
    sum.add(`restart ${round}`, disturbed);
  }
  return await sum.findings(cluster.audit);
}
