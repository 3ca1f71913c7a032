/**
 * The clock of a node jumps by hours, forwards and backwards, while it works. Debian's `faketime` changes the time of day
 * that the processes of the node see, and nothing else.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { drawEvent, runDisturbed, runUndisturbed } from '../../test/cluster/disturb.ts';
import { startOwnDatabase } from '../../test/cluster/own-database.ts';
import { requirePackages } from './debian-packages.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';
import { BUNDLE, startNodes, Sum } from './shared.ts';

export const proveClock: Proof = { name: 'clock', needsWorld: false, run };

const JUMPS = ['+2h', '-3d', '+40s', '-10m', '+400d'];

async function run({ seed }: ProofContext): Promise<Findings> {
  requirePackages();
  const undisturbed = await runUndisturbed(BUNDLE);
  const folder = mkdtempSync(join(tmpdir(), 'goondan-clock-'));
  const time = join(folder, 'time');
  const setTime = (offset: string) => writeFileSync(time, `${offset}\n`);
  setTime('+0');
  const env = (name: string): Record<string, string> =>
    name === 'node-1'
      ? { LD_PRELOAD: findLibrary(), FAKETIME_TIMESTAMP_FILE: time, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' }
      : {};
  try {
    await using database = await startOwnDatabase();
    await using cluster = await startNodes(database.address, 2, { env });
    const sum = new Sum();
    for (const [index, jump] of JUMPS.entries()) {
      const random = seededRandom(seed, index);
      const disturbed = await runDisturbed(cluster, `j${index}`, undisturbed, {
        afterEvents: drawEvent(random),
        disturb: async () => setTime(jump),
      });
      sum.add(`clock of node-1 ${jump}`, disturbed);
    }
    return await sum.findings(cluster.audit);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function findLibrary(): string {
  const folders = readdirSync('/usr/lib').map((name) => join('/usr/lib', name, 'faketime/libfaketime.so.1'));
  const found = folders.find((path) => existsSync(path));
  if (found === undefined) throw new Error('The library of faketime was not found.');
  return found;
}
