/** The life of a conversation as columns of one pixel or more: who did something when, at a glance. */

export type Author = 'i' | 'm' | 't' | 'e' | 'r';

/** Where one column stands for several events, the rarer kind shows: a person's words among a thousand others. */
const rarestFirst: readonly Author[] = ['i', 'e', 't', 'm', 'r'];

/** One author for each column; at most `width` columns, and never more than there are events. */
export function tapeColumns(authors: string, width: number): readonly Author[] {
  const count = Math.max(0, Math.min(Math.floor(width), authors.length));
  const columns: Author[] = [];
  for (let index = 0; index < count; index += 1) {
    const from = Math.floor((index * authors.length) / count);
    const to = Math.floor(((index + 1) * authors.length) / count);
    const within = authors.slice(from, to);
    columns.push(rarestFirst.find((author) => within.includes(author)) ?? 'r');
  }
  return columns;
}
