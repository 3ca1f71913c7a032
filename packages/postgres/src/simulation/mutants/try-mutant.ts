/** Applies a mutant to a copy of the package and runs the simulation on it. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutants.ts';

export interface MutantOutcome {
  /** The point that caught the mutant; `undefined` when the mutant survived. */
  readonly caughtBy: string | undefined;
  readonly problem: string;
}

const sources = join(import.meta.dir, '../..');
/** This folder is inside the project, so that imports of packages resolve. Git ignores the folder. */
const workbench = join(sources, '../../../tmp');

const POINTS_OF_SEED = 40;
/** One of so many points of the order of input is tried. */
const ORDER_STEP = 97;
const STEERING = { seeds: [0, 1, 2], step: 97, isFirstEnough: true };
/** A mutant may wait without end: no seed, no act and no order of input takes as long. */
const MOST_MS = 60_000;

/** `address`: a database with the tables, which nothing else uses at the same time. */
export function tryMutant(mutant: Mutant, address: string, points: number): Promise<MutantOutcome> {
  return withMutant(mutant, (folder) => runOn(folder, address, points));
}

/** Applies a mutant to a copy of the package. `run` gets the folder of its simulation. */
export async function withMutant<Result>(mutant: Mutant, run: (folder: string) => Promise<Result>): Promise<Result> {
  mkdirSync(workbench, { recursive: true });
  const copy = mkdtempSync(join(workbench, 'mutant-'));
  try {
    cpSync(sources, join(copy, 'postgres/src'), { recursive: true });
    // The simulation imports files of the runtime.
    symlinkSync(join(sources, '../../runtime'), join(copy, 'runtime'));
    patch(join(copy, 'postgres/src', mutant.file), mutant);
    return await run(join(copy, 'postgres/src/simulation'));
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

async function runOn(folder: string, address: string, points: number): Promise<MutantOutcome> {
  // The casts are safe: these are copies of the modules with these types.
  const { simulateActs } = (await import(join(folder, 'simulate-acts.ts'))) as typeof import('../simulate-acts.ts');
  const { simulateOrder } = (await import(join(folder, 'simulate-order.ts'))) as typeof import('../simulate-order.ts');
  const many = (await import(join(folder, 'simulate-points.ts'))) as typeof import('../simulate-points.ts');
  const steering = (await import(join(folder, 'simulate-steering.ts'))) as typeof import('../simulate-steering.ts');
  const { promise: endless, resolve: giveUp } = Promise.withResolvers<MutantOutcome>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wind = () => {
    clearTimeout(timer);
    timer = setTimeout(() => giveUp({ caughtBy: 'no end', problem: `nothing for ${MOST_MS} ms` }), MOST_MS);
  };
  const tryAll = async (): Promise<MutantOutcome> => {
    const [problem] = await problemsOf(simulateActs(address, { isFirstEnough: true }));
    if (problem !== undefined) return { caughtBy: 'an act', problem: firstLine(problem) };
    wind();
    const [disorder] = await problemsOf(simulateOrder(address, { step: ORDER_STEP, isFirstEnough: true }));
    if (disorder !== undefined) return { caughtBy: 'the order', problem: firstLine(disorder) };
    wind();
    const [twice] = await problemsOf(steering.simulateSteering(address, STEERING));
    if (twice !== undefined) return { caughtBy: 'steering', problem: firstLine(twice) };
    const asked = { address, from: 0, points, pointsOfSeed: POINTS_OF_SEED, isFirstEnough: true, onProgress: wind };
    const [violation] = (await many.simulatePoints(asked)).violations;
    if (violation === undefined) return { caughtBy: undefined, problem: '' };
    const { seed, fault, at } = violation.point;
    return { caughtBy: `seed ${seed}, ${fault} ${at}`, problem: firstLine(violation.problem) };
  };
  wind();
  return Promise.race([tryAll(), endless]).finally(() => clearTimeout(timer));
}

/** An error that stops a simulation is a problem, too. */
async function problemsOf(simulated: Promise<{ readonly problems: readonly string[] }>): Promise<readonly string[]> {
  return simulated.then(
    ({ problems }) => problems,
    (error: unknown) => [String(error)],
  );
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 100);
}
