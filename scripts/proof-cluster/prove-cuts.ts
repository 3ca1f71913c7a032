/** The connection of a node to the database is cut before and after every statement of a round. */
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { startCuttingProxy } from '../../packages/postgres/src/testing/cutting-proxy.ts';
import { runDisturbed, runUndisturbed } from '../../test/cluster/disturb.ts';
import { startOwnDatabase } from '../../test/cluster/own-database.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, startNodes, Sum } from './shared.ts';

export const proveCuts: Proof = { name: 'cuts', needsWorld: false, run };

/** A round of work has about this many statements. Each round cuts some of them, so that all are cut together. */
const ROUNDS = 40;

async function run({ seed, say }: ProofContext): Promise<Findings> {
  const undisturbed = await runUndisturbed(BUNDLE);
  await using database = await startOwnDatabase();
  const proxy = await startCuttingProxy(database.port);
  const address = database.address.replace(`:${database.port}/`, `:${proxy.port}/`);
  const sum = new Sum();
  let cuts = 0;
  try {
    await using cluster = await startNodes(address, 1, { readAt: database.address });
    const cut = { before: new Set<number>(), after: new Set<number>() };
    for (let round = 1; round <= ROUNDS; round++) {
      const random = seededRandom(seed, round);
      const first = proxy.statements;
      const when = round % 2 === 0 ? ('before' as const) : ('after' as const);
      const offset = Math.floor((round - 1) / 2);
      // Every twentieth statement of the round, beginning with another one each time.
      proxy.cutWhen((statement) => {
        const number = statement - first;
        if (number % (ROUNDS / 2) !== offset) return undefined;
        cuts += 1;
        cut[when].add(number);
        return when;
      });
      const disturbed = await runDisturbed(cluster, `c${round}`, undisturbed, {
        afterEvents: 1 + random.below(3),
        disturb: async () => undefined,
      });
      sum.add(`cuts ${when}, from statement ${offset}`, disturbed);
      proxy.cutWhen(undefined);
    }
    const reached = Math.min(Math.max(...cut.before), Math.max(...cut.after));
    const missed = Array.from({ length: reached }, (_, index) => index).filter(
      (number) => !cut.before.has(number) || !cut.after.has(number),
    );
    say(`statements 0 to ${reached} of a round, of which ${missed.length} were not cut on both sides`);
    return await sum.findings(cluster.audit, { cuts });
  } finally {
    await proxy.close();
  }
}
