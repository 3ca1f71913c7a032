/**
 * `npm run bench`: measures everything we claim about speed, in one run, and compares the figures with the targets.
 * `docs/bench.md` describes the sections.
 */
import { spawnSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { type BenchOptions, readBenchOptions } from './bench-options.ts';
import { benchCluster } from './cluster.ts';
import { benchCommands } from './commands.ts';
import { benchConversations } from './conversations.ts';
import type { Figures } from './figures.ts';
import { benchFirstToken } from './first-token.ts';
import { benchHistory } from './history.ts';
import { benchOnion } from './onion.ts';
import { benchSpawn } from './spawn.ts';
import { benchStudio } from './studio.ts';
import { benchSwarm } from './swarm.ts';
import { sectionsOfTargets, targetTable } from './targets.ts';
import { benchTrace } from './trace.ts';
import { benchTurn } from './turn.ts';

const sections: Record<string, (options: BenchOptions) => Promise<Figures>> = {
  onion: benchOnion,
  trace: benchTrace,
  turn: benchTurn,
  history: benchHistory,
  'first-token': benchFirstToken,
  commands: benchCommands,
  swarm: benchSwarm,
  studio: benchStudio,
  spawn: benchSpawn,
  conversations: benchConversations,
  cluster: benchCluster,
};

const options = readOptions();
printHead(options);
build();
const runs: Figures[] = [];
for (let run = 1; run <= options.runs; run++) {
  if (options.runs > 1) console.log(`\nrun ${run} of ${options.runs}`);
  const figures: Record<string, number> = {};
  for (const name of options.sections) Object.assign(figures, await sections[name]?.(options));
  runs.push(figures);
}
const table = targetTable(runs, options.sections);
if (table !== '') console.log(`\ntargets\n\n${table}`);

function readOptions(): BenchOptions {
  try {
    return readBenchOptions(process.argv.slice(2), Object.keys(sections), sectionsOfTargets);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

function printHead({ sections: chosen, conversations, shared }: BenchOptions): void {
  const processors = cpus();
  const load = loadavg()[0]?.toFixed(1);
  console.log(`Bun ${Bun.version}, ${processors.length} × ${processors[0]?.model ?? 'unknown'}, load ${load}`);
  console.log(`sections: ${chosen.join(', ')}`);
  console.log(`conversations: ${conversations.join(', ')} with a process each, ${shared.join(', ')} many in a process`);
  console.log('Ratios and counts are comparable between machines; times are valid for this machine at this moment.');
}

/** Builds the programs of processes and commands from the present sources. */
function build(): void {
  const script = join(import.meta.dir, '..', 'scripts', 'build.mjs');
  const { status } = spawnSync('node', [script, 'runners', 'cli'], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
}
