import { describe, expect, test } from 'bun:test';
import { drawTerminal } from './draw-terminal.ts';

const output = '\x1b[36mturn\x1b[39m \x1b[1ma<b\x1b[22m\n│ own';

describe('the picture of a terminal', () => {
  test('has each text at its column and line, in the colour of its style, without control sequences', () => {
    expect(drawTerminal(output, 'dark', 'A "turn"')).toMatchSnapshot();
  });

  test('has other colours in the light theme, and nothing else', () => {
    const shape = (theme: 'light' | 'dark') => drawTerminal(output, theme, '').replaceAll(/#[0-9a-f]{6}/g, 'colour');
    expect(drawTerminal(output, 'light', '')).not.toBe(drawTerminal(output, 'dark', ''));
    expect(shape('light')).toBe(shape('dark'));
  });
});
