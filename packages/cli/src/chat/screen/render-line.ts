import type { Colors } from '../../colors.ts';
import { harmlessText } from '../../harmless-text.ts';
import type { Line } from './line.ts';

/** Renders a line for a terminal: untrusted text is escaped, and colours are used where supported. */
export function renderLine(line: Line, colors: Colors): string {
  return line
    .map(({ text, style }) => (style === undefined ? harmlessText(text) : colors[style](harmlessText(text))))
    .join('');
}
