/** Formats a time to the second, in UTC as in the log, so that it reads the same everywhere. */
export function showTime(at: Date): string {
  return Number.isNaN(at.getTime()) ? 'unknown' : `${at.toISOString().slice(0, 19)}Z`;
}
