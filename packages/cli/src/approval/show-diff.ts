import type { Colors } from '../terminal.ts';
import { showText } from './show-text.ts';

/** Colours a unified diff for a terminal. Every character that cannot be seen is written out; tabs stay. */
export function showDiff(diff: string, colors: Colors): string {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => `${colorOf(line, colors)(line.split('\t').map(showText).join('\t'))}\n`).join('');
}

function colorOf(line: string, { bold, cyan, green, red }: Colors): (text: string) => string {
  if (/^(?:---|\+\+\+) /.test(line)) return bold;
  if (line.startsWith('@@ ')) return cyan;
  if (line.startsWith('+')) return green;
  return line.startsWith('-') ? red : (text) => text;
}
