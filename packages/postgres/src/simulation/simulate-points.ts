/** Simulates points of many seeds in one database, several at a time. */
import { seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';
import { type Database, openDatabase } from '../driver/database.ts';
import { repeating } from '../driver/repeat.ts';
import { faults } from './simulated-database.ts';
import { runSeveral } from './run-several.ts';
import { measure, type Point, simulatePoint } from './simulate-point.ts';

export interface PointsToSimulate {
  /** The address of a database with the tables, which nothing else uses. */
  readonly address: string;
  /** The first seed, and the number of points to try. */
  readonly from: number;
  readonly points: number;
  /** The points of each seed, chosen at random; all of them when absent. */
  readonly pointsOfSeed?: number;
  /** The number of points at a time. */
  readonly width?: number;
  readonly isFirstEnough?: boolean;
  readonly onProgress?: (points: number) => void;
}

export interface PointsReport {
  readonly points: number;
  readonly seeds: number;
  readonly violations: readonly { readonly point: Point; readonly problem: string }[];
}

const WIDTH = 6;

export async function simulatePoints(asked: PointsToSimulate): Promise<PointsReport> {
  const { address, from, points: most, pointsOfSeed, width = WIDTH, isFirstEnough = false, onProgress } = asked;
  const mostViolations = isFirstEnough ? 1 : Number.POSITIVE_INFINITY;
  const real = openDatabase(address, { connections: width, statementMs: 60_000 });
  const violations: { readonly point: Point; readonly problem: string }[] = [];
  // A mutant before may have left rows.
  const run = crypto.randomUUID();
  let tried = 0;
  let seed = from;
  try {
    while (tried < most && violations.length < mostViolations) {
      const left = await choose(real, run, seed, Math.min(pointsOfSeed ?? most, most - tried)).catch(
        (error: unknown) => {
          violations.push({ point: { seed, at: 0, fault: 'die before' }, problem: textOf(error) });
          return [];
        },
      );
      tried += left.length;
      const trials = left.map((point) => async () => {
        const problem = await simulatePoint(real, `${run}, ${nameOf(point)}`, point);
        if (problem !== undefined) violations.push({ point, problem });
        return problem === undefined || !isFirstEnough;
      });
      await runSeveral(width, trials);
      await empty(real);
      onProgress?.(tried);
      seed += 1;
    }
  } finally {
    await real.close();
  }
  return { points: tried, seeds: seed - from, violations };
}

/** Returns the problem at a point, or `undefined`. */
export async function repeatPoint(address: string, point: Point): Promise<string | undefined> {
  const real = openDatabase(address, { connections: 2 });
  try {
    return await simulatePoint(real, nameOf(point), point);
  } finally {
    await real.close();
  }
}

/** Lists the points of a seed, after it was lived without a fault. */
async function choose(real: Database, run: string, seed: number, most: number): Promise<Point[]> {
  const { statements, calls } = await measure(real, `${run}, seed ${seed}`, seed);
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const points: Point[] = [
    ...numbers(statements).flatMap((at) => faults.map((fault) => ({ seed, at, fault }))),
    ...numbers(calls).map((at) => ({ seed, at, fault: 'kill' as const })),
  ];
  if (points.length <= most) return points;
  const random = seededRandom(seed, 7);
  return Array.from({ length: most }, () => points.splice(random.below(points.length), 1)).flat();
}

/** Rows make the next seeds slower. A statement of a point that failed may still run, so this is repeated. */
async function empty(real: Database): Promise<void> {
  await repeating(
    real,
    () => true,
  )('truncate gdn_instance, gdn_inbox, gdn_frame, gdn_base, gdn_archive, gdn_answer, gdn_node, gdn_connection');
}

function nameOf({ seed, at, fault }: Point): string {
  return `seed ${seed}, ${fault} ${at}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Describes a violation, with the command that repeats it. */
export function describeViolation({ point, problem }: PointsReport['violations'][number]): string {
  const { seed, at, fault } = point;
  return `npm run torture -- cluster --seed ${seed} --point ${at} --fault '${fault}'\n${problem}`;
}
