/** Formats a duration for people, such as `0.27 ms`, `321 ms`, `16.0 s` or `2 min 5 s`. */
export function describeDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  if (milliseconds >= 59_950) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (milliseconds >= 999.5) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${milliseconds >= 9.995 ? Math.round(milliseconds) : milliseconds.toFixed(2)} ms`;
}
