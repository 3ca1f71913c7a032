/** Measures several contestants in one run. Their samples alternate, so that a slow moment affects all of them. */

export interface Contestant {
  readonly name: string;
  /** Prepares the next sample; its time is not measured. A new conversation here keeps the history bounded. */
  begin?(): Promise<void>;
  /** Runs one operation; its promise is awaited. */
  run(): unknown;
}

export interface Timing {
  readonly name: string;
  /**
   * The median of the samples, in microseconds per operation. `low` and `high` enclose the middle half of the samples.
   */
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** The fastest sample, which a busy machine affects least. */
  readonly fastest: number;
}

export interface MeasureOptions {
  /** The number of operations in one sample. */
  readonly operations: number;
  readonly samples?: number;
  /** The number of operations before the first sample, until the JIT compiler has optimised the code. */
  readonly warmUps?: number;
}

export async function measure(contestants: readonly Contestant[], options: MeasureOptions): Promise<Timing[]> {
  const { operations, samples = 21, warmUps = Math.max(3 * operations, 400) } = options;
  const taken = new Map<Contestant, number[]>(contestants.map((contestant) => [contestant, []]));
  for (const contestant of contestants) {
    for (let done = 0; done < warmUps; done += operations) await sample(contestant, operations);
  }
  for (let round = 0; round < samples; round++) {
    for (const contestant of contestants) taken.get(contestant)?.push(await sample(contestant, operations));
  }
  return Array.from(taken, ([{ name }, times]) => summarise(name, times));
}

/** Returns the microseconds of one operation. */
async function sample(contestant: Contestant, operations: number): Promise<number> {
  await contestant.begin?.();
  const startedAt = performance.now();
  for (let operation = 0; operation < operations; operation++) await contestant.run();
  return ((performance.now() - startedAt) * 1_000) / operations;
}

export function summarise(name: string, times: readonly number[]): Timing {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return { name, median: at(0.5), low: at(0.25), high: at(0.75), fastest: at(0) };
}

export function medianOf(values: readonly number[]): number {
  return summarise('', values).median;
}

/** Prints a table of the times, their spread, and their ratio to the first row. */
export function printTimings(title: string, timings: readonly Timing[], note = ''): void {
  const first = timings[0]?.median ?? Number.NaN;
  console.log(`\n${title}${note === '' ? '' : `  (${note})`}`);
  for (const { name, median, low, high } of timings) {
    const ratio = `${(median / first).toFixed(2)}×`;
    console.log(`  ${name.padEnd(46)} ${micro(median).padStart(10)}   ${micro(low)} … ${micro(high)}   ${ratio}`);
  }
}

function micro(value: number): string {
  return value < 10 ? `${value.toFixed(2)} µs` : `${value.toFixed(0)} µs`;
}
