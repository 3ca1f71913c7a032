/** The life of a conversation as columns of one pixel or more: who did something when, at a glance. */

export type Author = 'i' | 'm' | 't' | 'e' | 'r';

/** Who made the events that a column stands for, and what part of them, from 0 to 1; from the top down. */
export type Column = readonly { readonly author: Author; readonly share: number }[];

const topDown: readonly Author[] = ['i', 'e', 't', 'm', 'r'];
/** A person's words among a thousand others are seen. */
const LEAST_SHARE = 0.15;

/** At most `width` columns, and never more than there are events. */
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
