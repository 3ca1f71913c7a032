/** Applies a mutant to a copy of the sources and runs the simulation on it. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutants.ts';

export interface MutantOutcome {
  readonly mutant: string;
  /** The check that caught the mutant; `undefined` when the mutant survived. */
  readonly caughtBy: string | undefined;
  readonly problem: string;
}

const sources = join(import.meta.dir, '../../..');
/** This folder is inside the project, so that imports of packages resolve. Git ignores the folder. */
const workbench = join(sources, '../../../tmp');

const LOG_FILE_SEEDS = 60;
const STEERING_SEEDS = 20;
/** One of so many operations of a seed is tried. */
const STEERING_STEP = 10;

export async function tryMutant(mutant: Mutant, seeds: readonly number[]): Promise<MutantOutcome> {
  mkdirSync(workbench, { recursive: true });
  const copy = mkdtempSync(join(workbench, 'mutant-'));
  try {
    for (const folder of ['workspace', 'ports', 'messages', 'json', 'usage'])
      cpSync(join(sources, folder), join(copy, folder), { recursive: true });
    patch(join(copy, 'workspace', mutant.file), mutant);
    if (mutant.caughtBy === 'damage') return await damageIt(mutant, copy);
    if (mutant.caughtBy === 'race') return await raceIt(mutant, copy);
    if (mutant.caughtBy === 'steering') return await steerIt(mutant, copy);
    if (mutant.caughtBy === 'log file') return await crashLogFile(mutant, copy);
    return await crashIt(mutant, copy, [mutant.seed ?? 0, ...seeds]);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function patch(path: string, { name, find, replace }: Mutant): void {
  const text = readFileSync(path, 'utf8');
  if (text.split(find).length !== 2)
    throw new Error(`mutant '${name}' does not fit: its text must occur once in ${path}`);
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
}

async function crashIt({ name }: Mutant, copy: string, seeds: readonly number[]): Promise<MutantOutcome> {
  // The cast is safe: this is a copy of the module with this type.
  const { simulate } = (await import(
    join(copy, 'workspace/simulation/simulate.ts')
  )) as typeof import('../simulate.ts');
  for (const seed of seeds) {
    const report = await simulate(seed, { stopAtFirst: true }).catch((error: unknown) => error);
    if (report instanceof Error)
      return { mutant: name, caughtBy: `seed ${seed}, no crash needed`, problem: firstLine(report.message) };
    const [violation] = (report as Awaited<ReturnType<typeof simulate>>).violations;
    if (!violation) continue;
    const { operation, mode } = violation.point;
    const caughtBy = `seed ${seed}, operation ${operation}, ${mode}`;
    return { mutant: name, caughtBy, problem: firstLine(violation.problem) };
  }
  return { mutant: name, caughtBy: undefined, problem: '' };
}

async function damageIt({ name }: Mutant, copy: string): Promise<MutantOutcome> {
  // The cast is safe: this is a copy of the module with this type.
  const { tryDamages } = (await import(join(copy, 'workspace/simulation/damage.ts'))) as typeof import('../damage.ts');
  const { problems } = await tryDamages(3, { stopAtFirst: true });
  const [problem] = problems;
  return { mutant: name, caughtBy: problem && 'damaged files', problem: firstLine(problem ?? '') };
}

async function raceIt({ name }: Mutant, copy: string): Promise<MutantOutcome> {
  const path = join(copy, 'workspace/simulation/simulate-commit-race.ts');
  // The cast is safe: this is a copy of the module with this type.
  const { simulateCommitRace } = (await import(path)) as typeof import('../simulate-commit-race.ts');
  const [problem] = (await simulateCommitRace()).problems;
  return { mutant: name, caughtBy: problem && 'commit race', problem: firstLine(problem ?? '') };
}

async function steerIt({ name }: Mutant, copy: string): Promise<MutantOutcome> {
  const path = join(copy, 'workspace/simulation/simulate-steering.ts');
  // The cast is safe: this is a copy of the module with this type.
  const { simulateSteering } = (await import(path)) as typeof import('../simulate-steering.ts');
  for (let seed = 0; seed < STEERING_SEEDS; seed += 1) {
    const [problem] = (await simulateSteering(seed, { step: STEERING_STEP, isFirstEnough: true })).problems;
    if (problem !== undefined) return { mutant: name, caughtBy: `steering, seed ${seed}`, problem: firstLine(problem) };
  }
  return { mutant: name, caughtBy: undefined, problem: '' };
}

async function crashLogFile({ name }: Mutant, copy: string): Promise<MutantOutcome> {
  const path = join(copy, 'workspace/simulation/simulate-log-file.ts');
  // The cast is safe: this is a copy of the module with this type.
  const { simulateLogFile, simulateLogFaults } = (await import(path)) as typeof import('../simulate-log-file.ts');
  for (let seed = 0; seed < LOG_FILE_SEEDS; seed += 1) {
    for (const pace of ['quick', 'slow', 'changing'] as const) {
      const crashes = await simulateLogFile(seed, pace);
      const faults = await simulateLogFaults(seed, 'EIO', 1 + (seed % 3), pace);
      const [problem] = [...crashes.problems, ...faults.problems];
      if (problem !== undefined)
        return { mutant: name, caughtBy: `log file, seed ${seed}`, problem: firstLine(problem) };
    }
  }
  return { mutant: name, caughtBy: undefined, problem: '' };
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 100);
}
