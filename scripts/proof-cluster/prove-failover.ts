/** The primary of a replicated database is killed, and parted, while three nodes work; Patroni replaces it by itself. */
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { drawEvent, runDisturbed, runUndisturbed } from '../../test/cluster/disturb.ts';
import { WORLD_FOLDER } from './enter-world.ts';
import { makeNetwork } from './network.ts';
import { startPatroni } from './patroni.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, startNodes, Sum } from './shared.ts';

export const proveFailover: Proof = { name: 'failover', needsWorld: true, run };

async function run({ seed, say }: ProofContext): Promise<Findings> {
  const undisturbed = await runUndisturbed(BUNDLE);
  const replicated = await startPatroni(makeNetwork(), `${WORLD_FOLDER}/failover`);
  const sum = new Sum();
  const figures: Record<string, number> = {};
  {
    await using cluster = await startNodes(replicated.address, 3);
    for (const [index, failure] of (['killed', 'parted', 'killed'] as const).entries()) {
      const random = seededRandom(seed, index);
      const { primary } = await replicated.waitForPrimary();
      const disturbed = await runDisturbed(cluster, `o${index}`, undisturbed, {
        afterEvents: drawEvent(random),
        async disturb() {
          if (failure === 'killed') await primary.kill();
          else primary.machine.cutCable();
          const { ms } = await replicated.waitForPrimary(primary);
          figures[`ms until Patroni had a new primary, ${index + 1}. ${failure}`] = Math.round(ms);
        },
      });
      sum.add(`primary ${failure}`, disturbed);
      say(`${primary.machine.name} was ${failure}`);
      if (failure === 'killed') primary.start();
      else primary.machine.mendCable();
      await replicated.waitForStandby();
    }
  }
  await replicated.stop();
  return sum.findings(figures);
}
