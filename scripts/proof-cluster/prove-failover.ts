/**
 * The primary of a replicated database is killed, or cut off the network, and Patroni replaces it by itself. Three nodes
 * work meanwhile. With a short lease all nodes lose their places and join again; with a long one they keep them.
 */
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { drawEvent, runDisturbed, runUndisturbed, type Undisturbed } from '../../test/cluster/disturb.ts';
import { WORLD_FOLDER } from './enter-world.ts';
import { makeNetwork } from './network.ts';
import { startPatroni } from './patroni.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, startNodes, Sum } from './shared.ts';

export const proveFailover: Proof = { name: 'failover', needsWorld: true, run };

/** Patroni needs 20 to 30 seconds for a new primary: one lease is far below it, one above. */
const LEASES = [1, 60];
const FAILURES = ['killed', 'parted'] as const;

async function run(context: ProofContext): Promise<Findings> {
  const undisturbed = await runUndisturbed(BUNDLE);
  const figures: Record<string, number | string> = {};
  const problems: string[] = [];
  for (const leaseSeconds of LEASES) {
    const found = await failOver(context, undisturbed, leaseSeconds);
    for (const [name, figure] of Object.entries(found.figures)) figures[`lease ${leaseSeconds} s: ${name}`] = figure;
    problems.push(...found.problems.map((problem) => `lease ${leaseSeconds} s: ${problem}`));
  }
  return { figures, problems };
}

async function failOver(
  { seed, say }: ProofContext,
  undisturbed: Undisturbed,
  leaseSeconds: number,
): Promise<Findings> {
  const replicated = await startPatroni(makeNetwork(), `${WORLD_FOLDER}/failover-${leaseSeconds}`);
  const sum = new Sum();
  const figures: Record<string, string> = {};
  try {
    await using cluster = await startNodes(replicated.address, 3, { leaseSeconds });
    for (const [index, failure] of FAILURES.entries()) {
      const random = seededRandom(seed, index);
      await replicated.waitForStandby();
      const { primary } = await replicated.waitForPrimary();
      let failedAt = 0;
      let electedMs = 0;
      const disturbed = await runDisturbed(cluster, `o${index}`, undisturbed, {
        afterEvents: drawEvent(random),
        async disturb() {
          failedAt = await cluster.audit.now();
          if (failure === 'killed') await primary.kill();
          else primary.machine.cutCable();
          electedMs = (await replicated.waitForPrimary(primary)).ms;
        },
      });
      sum.add(`primary ${failure}`, disturbed);
      const pause = seconds(await cluster.audit.longestPauseAround(failedAt));
      const name = `primary ${failure}`;
      figures[name] = `${seconds(electedMs)} s until the next primary, ${pause} s without a commit`;
      say(`lease ${leaseSeconds} s: ${primary.machine.name} was ${failure}`);
      if (failure === 'killed') primary.start();
      else primary.machine.mendCable();
    }
    return await sum.findings(cluster.audit, figures);
  } finally {
    await replicated.stop();
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
