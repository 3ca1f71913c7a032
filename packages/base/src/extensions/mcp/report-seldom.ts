import type { Clock } from './clock.ts';

const MOST_REPORTS = 20;
const MINUTE_MS = 60_000;

/** The last report of a minute. */
const LAST = 'there were more of them; until the end of this minute, no further one is reported.';

/** Limits the reports of a minute, because a server that repeats its requests would fill the log, and older lines would be lost. */
export function reportSeldom(report: (problem: string) => void, clock: Clock): (problem: string) => void {
  let since = -Infinity;
  let reports = 0;
  return (problem) => {
    const now = clock.elapsed();
    if (now - since >= MINUTE_MS) {
      since = now;
      reports = 0;
    }
    reports += 1;
    if (reports <= MOST_REPORTS) report(problem);
    else if (reports === MOST_REPORTS + 1) report(LAST);
  };
}
