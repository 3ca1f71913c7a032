/** Runs the points of a simulation in one database, several at a time. Every point has a swarm of its own. */
import { type Database, openDatabase } from '../driver/database.ts';
import { runSeveral } from './run-several.ts';
import { faults, type PlannedFault } from './simulated-database.ts';
import type { Observed } from './simulated-node.ts';

/** The number of points at a time. */
const WIDTH = 6;

/** The place of one point. */
export interface Place {
  readonly real: Database;
  readonly swarm: string;
  readonly observed: Observed;
}

export interface Trial {
  /** The name of the point, which its problem begins with. */
  readonly name: string;
  /** Lives through the point and checks the result. **Errors** — the problem. */
  run(place: Place): Promise<unknown>;
}

export interface TrialsReport {
  readonly points: number;
  readonly problems: readonly string[];
}

/** Runs trials, and returns true if more are wanted: with `isFirstEnough`, none after the first problem. */
export type RunTrials = (trials: readonly Trial[]) => Promise<boolean>;

/** Returns the number of points that `simulate` tries, and the problems. */
export async function runTrials(
  address: string,
  { isFirstEnough = false }: { readonly isFirstEnough?: boolean },
  simulate: (tryAll: RunTrials) => Promise<void>,
): Promise<TrialsReport> {
  const real = openDatabase(address, { connections: WIDTH });
  // A mutant before may have left rows.
  const run = crypto.randomUUID();
  const problems: string[] = [];
  let points = 0;
  const isMoreWanted = () => !isFirstEnough || problems.length === 0;
  const attempt = (trial: Trial) => async () => {
    points += 1;
    const observed = { epochs: new Map(), sent: new Map(), starts: new Map() };
    const place = { real, swarm: `${run}, ${trial.name}`, observed };
    await trial.run(place).catch((error: unknown) => void problems.push(`${trial.name}: ${String(error)}`));
    return isMoreWanted();
  };
  try {
    await simulate(async (trials) => {
      await runSeveral(WIDTH, trials.map(attempt));
      return isMoreWanted();
    });
  } finally {
    await real.close();
  }
  return { points, problems };
}

/** Lists every fault at each of so many statements. */
export function listFaults(statements: number): readonly PlannedFault[] {
  return faults.flatMap((fault) => Array.from({ length: statements }, (_, index) => ({ fault, at: index + 1 })));
}
