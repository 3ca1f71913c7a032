/** Divides a conversation into columns of at least one pixel, which show the authors over time. */

export type Author = 'i' | 'm' | 't' | 'e' | 'r';

/** The authors of a column's events with their shares from 0 to 1, from top to bottom. */
export type Column = readonly { readonly author: Author; readonly share: number }[];

const topDown: readonly Author[] = ['i', 'e', 't', 'm', 'r'];
/** The minimum share of an author, so that one message of a person stays visible among a thousand other events. */
const LEAST_SHARE = 0.15;

/** Returns at most `width` columns, and at most one column per event. */
export function tapeColumns(authors: string, width: number): readonly Column[] {
  const count = Math.max(0, Math.min(Math.floor(width), authors.length));
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor((index * authors.length) / count);
    const to = Math.floor(((index + 1) * authors.length) / count);
    return columnOf(authors.slice(from, to));
  });
}

function columnOf(events: string): Column {
  const counts = topDown.map((author) => ({ author, count: events.split(author).length - 1 }));
  const parts = counts
    .filter(({ count }) => count > 0)
    .map(({ author, count }) => ({ author, share: Math.max(LEAST_SHARE, count / events.length) }));
  const whole = parts.reduce((sum, { share }) => sum + share, 0);
  return parts.map(({ author, share }) => ({ author, share: share / whole }));
}
