/**
 * Differences in unified format as lines for a person: in a terminal, and in the chat. Every character that cannot be seen
 * is written out; tabs stay.
 */
import type { FileChange } from '@goondan/runtime/internal';
import { wrapWords } from './fit-width.ts';
import { showText } from './question/show-text.ts';
import type { Colors } from './colors.ts';

/** `file`: the name of a file. `place`: the line that says where in the file the next lines are. */
export type DiffTone = 'file' | 'place' | 'added' | 'deleted' | 'plain';

export interface DiffLine {
  readonly text: string;
  readonly tone: DiffTone;
}

/** Returns a difference as text, with colours if the terminal has them. Nothing is left out. */
export function showDiff(diff: string, colors: Colors): string {
  return readDiff(diff)
    .map((line) => `${paintDiffLine(line, colors)}\n`)
    .join('');
}

/** Returns the changed lines and those around them, without the names of files and the places. */
export function diffLines(diff: string): readonly DiffLine[] {
  return readDiff(diff).filter(({ tone }) => tone !== 'file' && tone !== 'place');
}

/** Makes lines of one colour. The texts are shown as they are. */
export function asPlainLines(texts: readonly string[]): readonly DiffLine[] {
  return texts.map((text) => ({ text, tone: 'plain' }));
}

export function paintDiffLine({ text, tone }: DiffLine, { bold, cyan, green, red }: Colors): string {
  if (tone === 'plain') return text;
  return { file: bold, place: cyan, added: green, deleted: red }[tone](text);
}

/**
 * Returns lines for a terminal, indented. Sentences break between words. A line of a file, an address, and arguments whose
 * spaces a break would hide stay as they are.
 */
export function layOutLines(lines: readonly DiffLine[], colors: Colors, columns: number | undefined): string[] {
  return lines.map((line) => {
    const painted = `    ${paintDiffLine(line, colors)}`;
    const isExact = line.tone !== 'plain' || /^\S*$|^\{.* {2}/.test(line.text);
    return `${isExact ? painted : wrapWords(painted, columns, '  ')}\n`;
  });
}

const MOST_LINES = 200;
const LONGEST_LINE = 400;

/**
 * Names each file with its number of added and deleted lines, and shows the differences below: at most `most` lines in
 * total. `left`: the number of lines that are not shown.
 */
export function summarizeDiffs(files: readonly FileChange[], most = MOST_LINES) {
  const lines: DiffLine[] = [];
  let [room, left] = [most, 0];
  for (const { path, change, diff } of files) {
    const body = readDiff(diff).filter(({ tone }) => tone !== 'file');
    const shown = body.slice(0, room);
    lines.push({ text: `${change}  ${showText(path)}${countLines(body)}`, tone: 'file' }, ...shown.map(cutLine));
    room -= shown.length;
    left += body.length - shown.length;
  }
  return { lines, left };
}

const tones: Readonly<Record<string, DiffTone>> = { '+': 'added', '-': 'deleted', '@': 'place' };

function readDiff(diff: string): DiffLine[] {
  const texts = diff.split('\n');
  if (texts.at(-1) === '') texts.pop();
  const head = texts.findIndex((_, index) => isHead(texts, index));
  const toneOf = (text: string, index: number): DiffTone => {
    if (index < head) return 'plain';
    // A changed line can look like the name of a file, but it cannot come before the first place.
    if (head !== -1 && index < head + 2) return 'file';
    return tones[text.charAt(0)] ?? 'plain';
  };
  return texts.map((text, index) => ({
    text: text.split('\t').map(showText).join('\t'),
    tone: toneOf(text, index),
  }));
}

/** Returns true if two lines with the names of the files begin here. */
function isHead(texts: readonly string[], index: number): boolean {
  const [old = '', after = '', place = '@@'] = texts.slice(index, index + 3);
  return old.startsWith('--- ') && after.startsWith('+++ ') && place.startsWith('@@');
}

function countLines(lines: readonly DiffLine[]): string {
  const of = (wanted: DiffTone) => lines.filter(({ tone }) => tone === wanted).length;
  const counts = [`+${of('added')}`, `-${of('deleted')}`].filter((count) => !/^.0$/.test(count));
  return counts.length === 0 ? '' : `  (${counts.join(' ')})`;
}

function cutLine({ text, tone }: DiffLine): DiffLine {
  if (text.length <= LONGEST_LINE) return { text, tone };
  return { text: `${text.slice(0, LONGEST_LINE)}… and ${text.length - LONGEST_LINE} characters more`, tone };
}
