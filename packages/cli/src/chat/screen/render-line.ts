import type { Colors } from '../../terminal.ts';
import { harmlessText } from '../../harmless-text.ts';
import type { Line } from './line.ts';

/** What a terminal gets of a line: harmless, and in colour where there are colours. */
export function renderLine(line: Line, colors: Colors): string {
  return line
    .map(({ text, style }) => (style === undefined ? harmlessText(text) : colors[style](harmlessText(text))))
    .join('');
}
