/**
 * `schedule`: emits events at planned times.
 *
 * Invariants:
 * 1. The id of an event consists of its entry and its due time, so retries are recognised as the same event.
 * 2. The handled time is written after the event was accepted, so a crash in between repeats the event and never skips
 *    it.
 */
import {
  type Connector,
  type ConnectorContext,
  type ConnectorEvent,
  type ErrorCode,
  GoondanError,
} from '@goondan/types';
import { HandledTimes } from './handled-times.ts';
import { openEntries, type OpenEntry } from './open-entries.ts';
import { planDue } from './plan-due.ts';
import type { ScheduleConfig, ScheduleEntry } from './schedule-config.ts';

/** The clock, replaceable for tests. */
export interface ScheduleClock {
  now(): number;
  /** Resolves after `ms`, or when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * The longest wait between two checks. It is short, because the system clock may be changed and the machine may sleep.
 */
const LONGEST_WAIT_MS = 30_000;
const RETRY_MS = 5_000;

const schedule: Connector<ScheduleConfig> = (ctx) => runSchedule(ctx, systemClock);

export default schedule;

/** Runs the schedule until `ctx.signal` aborts. */
export async function runSchedule(ctx: ConnectorContext<ScheduleConfig>, clock: ScheduleClock): Promise<void> {
  const entries = openEntries(ctx.config);
  const handled = new HandledTimes(ctx.folder, entries, clock.now());
  ctx.logger.info(`${entries.length} entries.`);
  while (!ctx.signal.aborted) {
    let isHeldUp = false;
    for (const open of entries) isHeldUp = !(await emitDue(ctx, open, handled, clock.now())) || isHeldUp;
    const now = clock.now();
    const dues = entries.map(({ next }) => (next(now) ?? Infinity) - now);
    await clock.wait(Math.min(...dues, isHeldUp ? RETRY_MS : LONGEST_WAIT_MS), ctx.signal);
  }
}

/** Emits the due times of an entry. Returns false when a due time must be retried. */
async function emitDue(
  ctx: ConnectorContext<ScheduleConfig>,
  open: OpenEntry,
  handled: HandledTimes,
  now: number,
): Promise<boolean> {
  const { times, leftOutUntil } = planDue(open, handled.until(open), now);
  if (leftOutUntil !== undefined) {
    ctx.logger.warn(`Times of "${open.entry.name}" were missed and are skipped.`);
    // The skipped times are recorded first, so that they are reported only once, even if the due time must be retried.
    handled.settle(open, leftOutUntil);
  }
  for (const time of times) {
    if (!(await emitOne(ctx, open.entry, time))) return false;
    handled.settle(open, time);
  }
  return true;
}

async function emitOne(
  { emit, logger }: ConnectorContext<ScheduleConfig>,
  entry: ScheduleEntry,
  time: number,
): Promise<boolean> {
  try {
    await emit(eventOf(entry, time));
    return true;
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    if (!refusedForGood.has(error.code)) return false;
    logger.error(
      `"${entry.name}" of ${new Date(time).toISOString()} was not accepted: ${error.code}: ${error.message}`,
    );
    return true;
  }
}

/**
 * Error codes that mean that the event itself is invalid and that a retry would also be refused. All other errors may
 * be temporary, and a retry is safe because the same id is never accepted twice.
 */
const refusedForGood: ReadonlySet<string> = new Set<ErrorCode>([
  'E_AGENT_UNKNOWN',
  'E_CONNECTOR_EVENT',
  'E_EVENT_INVALID',
  'E_INGRESS_KEY',
  'E_INGRESS_RULE',
  'E_INSTANCE_KEY',
  'E_IPC_SIZE',
]);

function eventOf({ name, input, properties }: ScheduleEntry, time: number): ConnectorEvent {
  const due = new Date(time);
  return {
    name: 'tick',
    id: `${name}@${due.toISOString()}`,
    createdAt: due,
    properties: { ...properties, entry: name },
    ...(input === undefined ? {} : { input: input.replaceAll('{{time}}', due.toISOString()) }),
  };
}

const systemClock: ScheduleClock = {
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(over, Math.max(0, ms));
      signal.addEventListener('abort', over, { once: true });
      if (signal.aborted) over();
      function over() {
        clearTimeout(timer);
        signal.removeEventListener('abort', over);
        resolve();
      }
    }),
};
