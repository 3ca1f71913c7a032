/**
 * The difference of two texts in unified format, with three lines of context. Nothing is left out: `patch` makes the new
 * text from the old one and the difference. The effort is bounded: texts that differ in too many lines are shown as one
 * replaced block.
 */

/** The maximum number of lines to find as removed or added; beyond that, a block is replaced as a whole. */
const MOST_DIFFERENT = 1_000;
/** The number of unchanged lines before and after each change. */
const CONTEXT = 3;

interface Line {
  /** ` `: in both texts; `-`: only in the old one; `+`: only in the new one. */
  readonly sign: ' ' | '-' | '+';
  /** The text with its line break; the last line may have none. */
  readonly text: string;
}

/** Returns an empty text if the texts are equal. `null`: there is no file. */
export function unifiedDiff(path: string, oldText: string | null, newText: string | null): string {
  const lines = compareLines(splitLines(oldText ?? ''), splitLines(newText ?? ''));
  const hunks = toHunks(lines).map(writeHunk).join('');
  if (hunks === '' && (oldText === null) === (newText === null)) return '';
  return `--- ${oldText === null ? '/dev/null' : `a/${path}`}\n+++ ${newText === null ? '/dev/null' : `b/${path}`}\n${hunks}`;
}

function splitLines(text: string): string[] {
  const lines = text.split(/(?<=\n)/);
  return lines.length === 1 && lines[0] === '' ? [] : lines;
}

function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  return [
    ...before.slice(0, start).map(signed(' ')),
    ...(shortestEdit(removed, added) ?? [...removed.map(signed('-')), ...added.map(signed('+'))]),
    ...before.slice(before.length - end).map(signed(' ')),
  ];
}

const signed = (sign: Line['sign']) => (text: string) => ({ sign, text });

/**
 * Finds the smallest difference with the algorithm of Myers ("An O(ND) Difference Algorithm"); `undefined` if more than
 * `MOST_DIFFERENT` lines differ.
 */
function shortestEdit(before: readonly string[], after: readonly string[]): Line[] | undefined {
  // `reached[k]`: the furthest line of `before` on the diagonal k, where k = x - y.
  const reached = new Map<number, number>([[1, 0]]);
  const steps: Map<number, number>[] = [];
  for (let distance = 0; distance <= MOST_DIFFERENT; distance++) {
    steps.push(new Map(reached));
    for (let k = -distance; k <= distance; k += 2) {
      let x = isDown(reached, k, distance) ? at(reached, k + 1) : at(reached, k - 1) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      reached.set(k, x);
      if (x >= before.length && x - k >= after.length) return walkBack(steps, before, after);
    }
  }
  return undefined;
}

function walkBack(steps: Map<number, number>[], before: readonly string[], after: readonly string[]): Line[] {
  const lines: Line[] = [];
  let [x, y] = [before.length, after.length];
  for (const [distance, reached] of [...steps.entries()].toReversed()) {
    const k = x - y;
    const isAdded = isDown(reached, k, distance);
    const fromK = isAdded ? k + 1 : k - 1;
    const fromX = distance === 0 ? 0 : at(reached, fromK);
    const fromY = distance === 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY) {
      lines.push({ sign: ' ', text: before[x - 1] ?? '' });
      x--;
      y--;
    }
    if (distance === 0) break;
    lines.push(isAdded ? { sign: '+', text: after[y - 1] ?? '' } : { sign: '-', text: before[x - 1] ?? '' });
    [x, y] = [fromX, fromY];
  }
  return lines.toReversed();
}

/** Tells whether the best way to the diagonal k adds a line, rather than removes one. */
function isDown(reached: ReadonlyMap<number, number>, k: number, distance: number): boolean {
  return k === -distance || (k !== distance && at(reached, k - 1) < at(reached, k + 1));
}

function at(reached: ReadonlyMap<number, number>, k: number): number {
  return reached.get(k) ?? 0;
}

interface Hunk {
  readonly lines: readonly Line[];
  /** The number of lines of the old and of the new text before the hunk. */
  readonly oldStart: number;
  readonly newStart: number;
}

function toHunks(lines: readonly Line[]): Hunk[] {
  const isNear = nearChanges(lines);
  const hunks: Hunk[] = [];
  let open: { lines: Line[]; oldStart: number; newStart: number } | undefined;
  let [oldLine, newLine] = [0, 0];
  for (const [index, line] of lines.entries()) {
    if (isNear[index] === true) {
      if (open === undefined) hunks.push((open = { lines: [], oldStart: oldLine, newStart: newLine }));
      open.lines.push(line);
    } else open = undefined;
    if (line.sign !== '+') oldLine++;
    if (line.sign !== '-') newLine++;
  }
  return hunks;
}

/** Tells of each line whether it is a change, or one of the lines around a change. */
function nearChanges(lines: readonly Line[]): boolean[] {
  const isNear = lines.map(() => false);
  for (const [index, { sign }] of lines.entries()) {
    if (sign !== ' ') isNear.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  }
  return isNear;
}

function writeHunk({ lines, oldStart, newStart }: Hunk): string {
  const oldCount = lines.filter(({ sign }) => sign !== '+').length;
  const newCount = lines.filter(({ sign }) => sign !== '-').length;
  const written = lines.map(({ sign, text }) =>
    text.endsWith('\n') ? `${sign}${text}` : `${sign}${text}\n\\ No newline at end of file\n`,
  );
  return `@@ -${range(oldStart, oldCount)} +${range(newStart, newCount)} @@\n${written.join('')}`;
}

/** The first line counts from 1. An empty range is written with the line before it. */
function range(start: number, count: number): string {
  return `${count === 0 ? start : start + 1},${count}`;
}
