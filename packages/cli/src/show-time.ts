/** To the second, in UTC, as the log has it: one moment reads the same wherever it is shown. */
export function showTime(at: Date): string {
  return Number.isNaN(at.getTime()) ? 'unknown' : `${at.toISOString().slice(0, 19)}Z`;
}
