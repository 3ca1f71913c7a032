/**
 * A compiled pattern: a small program whose threads advance through the text together, one character at a time. The
 * time for a match is proportional to the length of the program times the length of the text. It never grows
 * exponentially, as it can in a backtracking matcher.
 */

export type Instruction =
  /** Consumes one character that fits. */
  | { readonly does: 'take'; readonly fits: (codePoint: number) => boolean }
  /** Continues in two threads, one at each of the two instructions. */
  | { readonly does: 'split'; readonly first: number; readonly second: number }
  | { readonly does: 'jump'; readonly to: number }
  /** Continues only at this kind of position in the text. */
  | { readonly does: 'assert'; readonly at: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly does: 'match' };

export type Program = readonly Instruction[];

/** Tells whether the program matches a part of the text (`search`) or all of it (`whole`). */
export function matches(program: Program, text: string, mode: 'search' | 'whole'): boolean {
  const codePoints = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  let threads = new Set<number>();
  for (let at = 0; at <= codePoints.length; at++) {
    if (mode === 'search' || at === 0) follow(program, 0, codePoints, at, threads);
    if (mode === 'search' && hasMatch(program, threads)) return true;
    const next = new Set<number>();
    const codePoint = codePoints[at];
    if (codePoint === undefined) return hasMatch(program, threads);
    for (const thread of threads) {
      const instruction = program[thread];
      if (instruction?.does !== 'take' || !instruction.fits(codePoint)) continue;
      follow(program, thread + 1, codePoints, at + 1, next);
    }
    threads = next;
    if (threads.size === 0 && mode === 'whole') return false;
  }
  return false;
}

/** Adds every instruction that can be reached from `start` without consuming a character. */
function follow(
  program: Program,
  start: number,
  codePoints: readonly number[],
  at: number,
  reached: Set<number>,
): void {
  const open = [start];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (reached.has(index)) continue;
    reached.add(index);
    const instruction = program[index];
    if (instruction?.does === 'jump') open.push(instruction.to);
    else if (instruction?.does === 'split') open.push(instruction.second, instruction.first);
    else if (instruction?.does === 'assert' && holds(instruction.at, codePoints, at)) open.push(index + 1);
  }
}

function hasMatch(program: Program, threads: ReadonlySet<number>): boolean {
  for (const thread of threads) if (program[thread]?.does === 'match') return true;
  return false;
}

function holds(what: 'start' | 'end' | 'boundary' | 'inside', codePoints: readonly number[], at: number): boolean {
  if (what === 'start') return at === 0;
  if (what === 'end') return at === codePoints.length;
  const isBoundary = isWord(codePoints[at - 1]) !== isWord(codePoints[at]);
  return isBoundary === (what === 'boundary');
}

export function isWord(codePoint: number | undefined): boolean {
  return codePoint !== undefined && codePoint < 128 && /\w/.test(String.fromCharCode(codePoint));
}
