/** A node is killed with SIGKILL at a random record, many times; another node goes on. */
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { drawEvent, runDisturbed, runUndisturbed } from '../../test/cluster/disturb.ts';
import { startOwnDatabase } from '../../test/cluster/own-database.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, startNodes, Sum } from './shared.ts';

export const proveKill: Proof = { name: 'kill', needsWorld: false, run };

const EVERY = 20;

async function run({ seed, kills, say }: ProofContext): Promise<Findings> {
  const undisturbed = await runUndisturbed(BUNDLE);
  await using database = await startOwnDatabase();
  await using cluster = await startNodes(database.address, 3);
  const sum = new Sum();
  for (let kill = 1; kill <= kills; kill++) {
    const random = seededRandom(seed, kill);
    const victim = random.pick(cluster.nodes);
    let killedAt = 0;
    const disturbed = await runDisturbed(cluster, `k${kill}`, undisturbed, {
      afterEvents: drawEvent(random),
      async disturb() {
        killedAt = await cluster.audit.now();
        await victim.kill();
      },
    });
    sum.add(`kill ${kill} of ${victim.name}`, disturbed);
    sum.addTakeOvers(await cluster.audit.takeOversSince(killedAt, victim.name));
    await cluster.restart(victim);
    if (kill % EVERY === 0) say(`${kill} kills`);
  }
  return await sum.findings(cluster.audit, { kills });
}
