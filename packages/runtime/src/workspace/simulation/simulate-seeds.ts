/** Simulates many seeds, on one thread or several. */
import { simulate, type SimulationReport, type Violation } from './simulate.ts';

export interface SeedsToSimulate {
  readonly from: number;
  /**
   * The number of crash points to try. Seeds are simulated until this number is reached. One thread stops exactly there;
   * several threads finish the seeds that they have begun.
   */
  readonly crashPoints: number;
  /** One thread is this thread. */
  readonly threads: number;
  readonly onProgress?: (crashPoints: number) => void;
}

export interface SeedsReport extends SimulationReport {
  readonly seeds: number;
}

export async function simulateSeeds({ from, crashPoints, threads, onProgress }: SeedsToSimulate): Promise<SeedsReport> {
  const violations: Violation[] = [];
  let tried = 0;
  let next = from;
  const workWith = async (simulateOne: (seed: number) => Promise<SimulationReport>) => {
    while (tried < crashPoints) {
      const report = await simulateOne(next++);
      tried += report.crashPoints;
      violations.push(...report.violations);
      onProgress?.(tried);
    }
  };
  const simulateHere = (seed: number) => simulate(seed, { most: crashPoints - tried });
  const workOnThread = async () => {
    const worker = new Worker(new URL('./seed-worker.ts', import.meta.url).href);
    try {
      await workWith((seed) => ask(worker, seed));
    } finally {
      worker.terminate();
    }
  };
  await (threads === 1 ? workWith(simulateHere) : Promise.all(Array.from({ length: threads }, workOnThread)));
  return { crashPoints: tried, violations, seeds: next - from };
}

function ask(worker: Worker, seed: number): Promise<SimulationReport> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<SimulationReport>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(`seed ${seed}: ${message}`));
    worker.postMessage(seed);
  });
}

/** Describes a violation, with the command that repeats it. */
export function describeViolation({ point, problem }: Violation): string {
  const { seed, operation, mode } = point;
  return `npm run torture -- journal --seed ${seed} --operation ${operation} --mode ${mode}\n${problem}`;
}
