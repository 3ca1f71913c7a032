/**
 * `npm run proof -- cluster`: breaks nodes, databases and networks while a swarm works, and checks that every accepted event
 * is answered once, that no effect happens twice, and that the conversations are those of an undisturbed run.
 *
 * `--only NAME` runs one part, and can be repeated; `--seed N` repeats a run; `--kills N` changes the number of kills.
 */
import { parseArgs } from 'node:util';
import { requirePackages } from './proof-cluster/debian-packages.ts';
import { enterWorld, furnishWorld, isInWorld, WORLD_FOLDER } from './proof-cluster/enter-world.ts';
import type { Proof } from './proof-cluster/proof.ts';
import { proveClock } from './proof-cluster/prove-clock.ts';
import { proveCounters } from './proof-cluster/prove-counters.ts';
import { proveCuts } from './proof-cluster/prove-cuts.ts';
import { proveDatabaseRestart } from './proof-cluster/prove-database-restart.ts';
import { proveFailover } from './proof-cluster/prove-failover.ts';
import { proveFreeze } from './proof-cluster/prove-freeze.ts';
import { proveKill } from './proof-cluster/prove-kill.ts';
import { provePartition } from './proof-cluster/prove-partition.ts';
import { proveReplication } from './proof-cluster/prove-replication.ts';
import { proveScenarios } from './proof-cluster/prove-scenarios.ts';

const proofs: readonly Proof[] = [
  proveScenarios,
  proveKill,
  proveFreeze,
  proveDatabaseRestart,
  proveCuts,
  proveCounters,
  proveClock,
  provePartition,
  proveFailover,
  proveReplication,
];

const { chosen, seed, kills } = readOptions();
if (chosen.some(({ needsWorld }) => needsWorld)) {
  if (!isInWorld()) {
    requirePackages();
    process.exit(await enterWorld());
  }
  furnishWorld();
  // Everything that the proofs leave is in the memory of the world, and ends with it.
  process.env['TMPDIR'] = WORLD_FOLDER;
}

/** The number of broken promises that are shown for each proof. */
const SHOWN = 5;

process.stdout.write(`seed ${seed}\n`);
const startedAt = performance.now();
const problems: string[] = [];
for (const proof of chosen) {
  process.stdout.write(`\n${proof.name}\n`);
  const begunAt = performance.now();
  const say = (line: string) => void process.stdout.write(`  ${line}\n`);
  try {
    const found = await proof.run({ seed, kills, say });
    for (const [name, figure] of Object.entries(found.figures)) say(`${name}: ${figure}`);
    for (const problem of found.problems.slice(0, SHOWN)) say(`BROKEN: ${problem}`);
    if (found.problems.length > SHOWN) say(`and ${found.problems.length - SHOWN} more`);
    problems.push(...found.problems.map((problem) => `${proof.name}: ${problem}`));
  } catch (error) {
    say(`BROKEN: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    problems.push(`${proof.name}: it did not reach its end`);
  }
  say(`${Math.round((performance.now() - begunAt) / 1_000)} s`);
}

const seconds = Math.round((performance.now() - startedAt) / 1_000);
process.stdout.write(
  problems.length === 0
    ? `\nNothing lost, nothing twice, nothing different: ${chosen.length} proofs in ${seconds} s, seed ${seed}.\n`
    : `\n${problems.length} broken promises in ${seconds} s, seed ${seed}; the first: ${problems[0]?.split('\n')[0]}\n`,
);
process.exit(problems.length === 0 ? 0 : 1);

function readOptions(): { readonly chosen: readonly Proof[]; readonly seed: number; readonly kills: number } {
  const names = proofs.map(({ name }) => name);
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: names },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      kills: { type: 'string', default: '200' },
    },
  });
  const unknown = values.only.find((name) => !names.includes(name));
  if (unknown !== undefined) refuse(`--only ${unknown}: there is no such proof; there are ${names.join(', ')}.`);
  const [seed_, kills_] = [Number(values.seed), Number(values.kills)];
  if (!Number.isSafeInteger(seed_) || seed_ < 0) refuse(`--seed ${values.seed}: not a whole number from 0.`);
  if (!Number.isSafeInteger(kills_) || kills_ < 1) refuse(`--kills ${values.kills}: not a whole number from 1.`);
  return { chosen: proofs.filter(({ name }) => values.only.includes(name)), seed: seed_, kills: kills_ };
}

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
