/**
 * Records the delays of an event loop, and reads the records of all orchestrators of a run.
 *
 * A delay has two parts. During the first the thread was ready to run, and other processes had the processors. The rest
 * is the orchestrator's own: it ran, or it waited for the system, such as for a write or for the start of a process. The
 * own part may be up to 5 ms too low, because the thread may also have been ready between two looks that were in time.
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DelayFigures {
  readonly p99: number;
  readonly longest: number;
}

/** Delays in milliseconds. */
export interface LoopDelays extends DelayFigures {
  /** The delays without the time in which the thread was ready to run. Absent if the system does not tell that time. */
  readonly own?: DelayFigures;
}

/** The number of ticks for each delay, in milliseconds. */
type Counts = Record<number, number>;

interface DelayRecord {
  readonly all: Counts;
  readonly own?: Counts;
}

const FILE = 'delays-';
/** The time between two looks at the clock. A later look is a delay. */
const LOOK_MS = 5;
const WRITE_MS = 200;

/** Records the delays of this thread from now on, and writes them into the folder five times a second. */
export function recordDelays(folder: string): void {
  const all: Counts = {};
  const own: Counts | undefined = readyMs() === undefined ? undefined : {};
  let last = performance.now();
  let lastReady = readyMs() ?? 0;
  setInterval(() => {
    const now = performance.now();
    const ready = readyMs() ?? 0;
    const late = Math.max(0, now - last - LOOK_MS);
    count(all, late);
    if (own !== undefined) count(own, Math.max(0, late - (ready - lastReady)));
    last = now;
    lastReady = ready;
  }, LOOK_MS);
  const record: DelayRecord = { all, ...(own && { own }) };
  const path = join(folder, `${FILE}${process.pid}.json`);
  const draft = join(folder, `.${process.pid}.draft`);
  setInterval(() => {
    // A kill in the middle of a write must not drop the record.
    writeFileSync(draft, JSON.stringify(record));
    renameSync(draft, path);
  }, WRITE_MS);
}

export function readDelays(folder: string): LoopDelays {
  const records = readdirSync(folder)
    .filter((name) => name.startsWith(FILE))
    .flatMap((name) => parse(readFileSync(join(folder, name), 'utf8')));
  const own = records.flatMap((each) => (each.own === undefined ? [] : [each.own]));
  return { ...figuresOf(records.map(({ all }) => all)), ...(own.length > 0 && { own: figuresOf(own) }) };
}

function count(counts: Counts, ms: number): void {
  const whole = Math.floor(ms);
  counts[whole] = (counts[whole] ?? 0) + 1;
}

/**
 * Reads how long the main thread has been ready to run while it did not run, in milliseconds. Returns `undefined` if the
 * system does not tell.
 */
function readyMs(): number | undefined {
  try {
    const [, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ');
    return Number(waited) / 1_000_000;
  } catch {
    return undefined;
  }
}

function figuresOf(records: readonly Counts[]): DelayFigures {
  const counts = new Map<number, number>();
  for (const record of records)
    for (const [ms, ticks] of Object.entries(record)) counts.set(Number(ms), (counts.get(Number(ms)) ?? 0) + ticks);
  const sorted = [...counts].toSorted(([one], [other]) => one - other);
  const all = sorted.reduce((sum, [, ticks]) => sum + ticks, 0);
  let seen = 0;
  const p99 = sorted.find(([, ticks]) => (seen += ticks) >= all * 0.99)?.[0] ?? 0;
  return { p99, longest: sorted.at(-1)?.[0] ?? 0 };
}

/** Parses a record. If the process was killed while it wrote the record, the text is incomplete, and nothing is returned. */
function parse(text: string): DelayRecord[] {
  try {
    return [JSON.parse(text) as DelayRecord];
  } catch {
    return [];
  }
}
