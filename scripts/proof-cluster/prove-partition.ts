/** A node is cut off the network for longer than its lease, and comes back. Every node is a machine of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { drawEvent, runDisturbed, runUndisturbed } from '../../test/cluster/disturb.ts';
import { startOwnDatabase } from '../../test/cluster/own-database.ts';
import { WORLD_FOLDER } from './enter-world.ts';
import { type Machine, makeNetwork } from './network.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, LEASE_SECONDS, startNodes, Sum } from './shared.ts';

export const provePartition: Proof = { name: 'partition', needsWorld: true, run };

const ROUNDS = 10;
const CONTROL_PORT = 7444;

async function run({ seed }: ProofContext): Promise<Findings> {
  const undisturbed = await runUndisturbed(BUNDLE);
  const network = makeNetwork();
  const access = join(WORLD_FOLDER, 'access.conf');
  writeFileSync(access, 'host all all 0.0.0.0/0 trust\n', { mode: 0o644 });
  await using database = await startOwnDatabase({ listen_addresses: '*', hba_file: access });
  const machines = new Map<string, Machine>();
  for (const name of ['node-1', 'node-2', 'node-3']) machines.set(name, network.addMachine());
  const machineOf = (name: string) => {
    const machine = machines.get(name);
    if (machine === undefined) throw new Error(`No machine for ${name}.`);
    return machine;
  };
  const address = database.address.replace('127.0.0.1', network.address);
  await using cluster = await startNodes(address, 3, {
    prefix: (name) => machineOf(name).prefix,
    listen: (name) => `${machineOf(name).address}:${CONTROL_PORT}`,
  });
  const sum = new Sum();
  for (let round = 1; round <= ROUNDS; round++) {
    const random = seededRandom(seed, round);
    const victim = random.pick(cluster.nodes);
    const disturbed = await runDisturbed(cluster, `p${round}`, undisturbed, {
      afterEvents: drawEvent(random),
      async disturb() {
        machineOf(victim.name).cutCable();
        await Bun.sleep(LEASE_SECONDS * 1_000 * random.pick([0.6, 1.5, 4]));
        machineOf(victim.name).mendCable();
      },
    });
    sum.add(`partition ${round} of ${victim.name}`, disturbed);
  }
  return await sum.findings(cluster.audit);
}
