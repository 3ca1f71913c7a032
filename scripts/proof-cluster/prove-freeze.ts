/** A node stands still for longer than its lease, with all its processes, and goes on after another node took over. */
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { drawEvent, freeze, runDisturbed, runUndisturbed } from '../../test/cluster/disturb.ts';
import { startOwnDatabase } from '../../test/cluster/own-database.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, LEASE_SECONDS, startNodes, Sum } from './shared.ts';

export const proveFreeze: Proof = { name: 'freeze', needsWorld: false, run };

const ROUNDS = 10;

async function run({ seed }: ProofContext): Promise<Findings> {
  const undisturbed = await runUndisturbed(BUNDLE);
  await using database = await startOwnDatabase();
  await using cluster = await startNodes(database.address, 3);
  const sum = new Sum();
  for (let round = 1; round <= ROUNDS; round++) {
    const random = seededRandom(seed, round);
    const victim = random.pick(cluster.nodes);
    const disturbed = await runDisturbed(cluster, `f${round}`, undisturbed, {
      afterEvents: drawEvent(random),
      async disturb() {
        const frozen = freeze(victim);
        // Some nodes wake up before the lease ends, some long after it.
        await Bun.sleep(LEASE_SECONDS * 1_000 * random.pick([0.6, 1.5, 4]));
        frozen.thaw();
      },
    });
    sum.add(`freeze ${round} of ${victim.name}`, disturbed);
  }
  return await sum.findings(cluster.audit);
}
