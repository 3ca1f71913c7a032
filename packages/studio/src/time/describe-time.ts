/** Formats a duration with at most three significant digits, such as `0.27 ms`, `321 ms` or `2.4 s`. */
export function describeDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (milliseconds >= 59_950) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (milliseconds >= 999.5) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds >= 10) return `${Math.round(milliseconds)} ms`;
  return `${milliseconds.toFixed(milliseconds >= 1 ? 1 : 2)} ms`;
}

/** Formats a time that goes on, in whole seconds, such as `7 s` or `2 min 7 s`. */
export function describeSeconds(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

// Each of these is made once, because making one takes as long as formatting a hundred moments with it.
const timeOfDay = new Intl.DateTimeFormat([], {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const dayOfYear = new Intl.DateTimeFormat([], { day: 'numeric', month: 'short' });

/** Formats the time of day, preceded by the date if it is not today. Returns the text itself if it is not a time. */
export function describeMoment(iso: string, now = new Date()): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return iso;
  const time = timeOfDay.format(moment);
  return moment.toDateString() === now.toDateString() ? time : `${dayOfYear.format(moment)} ${time}`;
}

/** Formats an age, such as `just now`, `4 min ago` or `3 d ago`. */
export function describeAge(iso: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  if (seconds < 45) return 'just now';
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}
