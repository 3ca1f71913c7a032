/** Finds the known name that a mistyped name most likely means, for "Did you mean …?". */

/** Returns the known name nearest to `name`, if the difference is small enough for a typing mistake. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  let closest: string | undefined;
  let leastSlips = Math.floor(Math.max(name.length, 3) / 3) + 1;
  for (const candidate of known) {
    // Skips a name whose length differs too much, to save the comparison.
    if (Math.abs(candidate.length - name.length) >= leastSlips) continue;
    const slips = countSlips(name.toLowerCase(), candidate.toLowerCase());
    // Words without a common letter are not a typing mistake of each other.
    if (slips >= Math.min(leastSlips, Math.max(name.length, candidate.length))) continue;
    closest = candidate;
    leastSlips = slips;
  }
  return closest;
}

/** Returns `Did you mean …?`, or a list of the known names. */
export function suggestName(meant: string | undefined, known: readonly string[]): string | undefined {
  if (meant !== undefined) return `Did you mean \`${meant}\`?`;
  if (known.length === 0) return undefined;
  return `Use one of: ${listNames(known)}.`;
}

/** Lists the first names, and shows whether there are more. */
export function listNames(known: readonly string[]): string {
  return `${known.slice(0, MOST_NAMES).join(', ')}${known.length > MOST_NAMES ? ', …' : ''}`;
}

const MOST_NAMES = 20;

/** Counts the letters that are missing, added, changed, or swapped with their neighbour between two words. */
function countSlips(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforePrevious, column - 2) + 1 : Infinity,
      );
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
