import { expect, test } from 'bun:test';
import { createColors } from '../../colors.ts';
import { line, span } from './line.ts';
import { renderLine } from './render-line.ts';

test('a line is coloured where colours are supported, and harmless everywhere', () => {
  const shown = [span('a'), span('\x1b[2J', 'red')];
  expect(renderLine(shown, createColors(true))).toBe('a\x1b[31m␛[2J\x1b[39m');
  expect(renderLine(shown, createColors(false))).toBe('a␛[2J');
  expect(renderLine(line(''), createColors(false))).toBe('');
});
