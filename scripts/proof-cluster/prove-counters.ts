/** Nodes are killed while all of them count model calls against one budget, and wait for the same three places. */
import { temporaryBundle } from '../../packages/runtime/src/testing/temporary-bundle.ts';
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { startOwnDatabase } from '../../test/cluster/own-database.ts';
import { startCluster } from '../../test/cluster/start-cluster.ts';
import { limitedBundle } from '../../test/limits/bundle.ts';
import { startProvider } from '../../test/limits/provider.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { LEASE_SECONDS } from './shared.ts';
import { until } from '../../test/until.ts';

export const proveCounters: Proof = { name: 'counters', needsWorld: false, run };

/** A node must start and join again after each kill. */
const MOST_KILLS = 20;
const PLACES = 3;
/** The calls of the budget for each kill, and the turns that want one. */
const CALLS = 10;
const TURNS = 15;
const agents = ['a', 'b', 'c', 'd', 'e', 'f'];

async function run({ seed, kills: wanted, say }: ProofContext): Promise<Findings> {
  const kills = Math.min(wanted, MOST_KILLS);
  const calls = CALLS * kills;
  await using provider = startProvider({ delayMs: 40 });
  await using database = await startOwnDatabase();
  const budget = { ref: 'Extension/budget', config: { budgets: [{ name: 'all', calls }] } };
  const bundle = { url: provider.url, agents, limits: { concurrent: PLACES }, extensions: [budget] };
  using files = temporaryBundle(limitedBundle({ ...bundle, isolation: 'agent' }));
  const options = { bundleFolder: files.folder, swarm: 'limited', store: database.address };
  await using cluster = await startCluster({ ...options, nodes: 3, leaseSeconds: LEASE_SECONDS });
  const inputs = Array.from({ length: TURNS * kills }, (_, number) => {
    const agent = agents[number % agents.length] ?? 'a';
    return { agent, instanceKey: `k${number}`, input: 'Hello', id: `input-${number}` };
  });
  for (let kill = 0; kill < kills; kill += 1) {
    const random = seededRandom(seed, kill);
    const victim = random.pick(cluster.nodes);
    const reached = provider.requests.length + random.below(CALLS / 2);
    const round = inputs.slice(kill * TURNS, (kill + 1) * TURNS);
    await Promise.all(round.map((input, index) => cluster.at(index).deliver(input)));
    await until(() => provider.requests.length >= Math.min(reached, calls - PLACES * kills), {
      about: 'some calls were made',
    });
    await victim.kill();
    await cluster.restart(victim);
    say(`${kill + 1} kills, ${provider.requests.length} calls`);
  }
  const ends = await Promise.all(inputs.map((input) => cluster.at(0).ask(input)));
  const answered = ends.filter(({ result }) => result.error === undefined).length;
  const others = ends.filter(({ result: { error } }) => error !== undefined && error.code !== 'E_BUDGET_EXCEEDED');
  const made = provider.requests.length;
  const problems = [
    ...(made > calls ? [`${made} calls were made, and the budget allows ${calls}`] : []),
    ...(calls - made > PLACES * kills ? [`${calls - made} calls are missing after ${kills} kills`] : []),
    ...others.map(({ result }) => `a turn ended with ${result.error?.code}`),
  ];
  return { figures: { kills, budget: calls, calls: made, answered, turns: inputs.length }, problems };
}
