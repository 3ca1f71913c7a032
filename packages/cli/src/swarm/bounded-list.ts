/** A list for people that does not fill the screen. */

/** The number of items that are shown; `--json` has all. */
export const MOST_SHOWN = 20;

/**
 * Returns the lines of the first items, and a line with the number of the others. `command`: shows all of them, as in
 * `` `gdn instance list` ``.
 */
export function boundedList<Item>(
  items: readonly Item[],
  describe: (item: Item) => readonly string[],
  command: string,
): string[] {
  const lines = items.slice(0, MOST_SHOWN).flatMap(describe);
  const more = items.length - MOST_SHOWN;
  return more <= 0 ? lines : [...lines, `  and ${more} more: ${command}`];
}
