import { describe, expect, test } from 'bun:test';
import { createColors } from '../../colors.ts';
import { line } from './line.ts';
import { eraseLive, nothingLive, paintFrame } from './paint-frame.ts';

const colors = createColors(false);
const row = (text: string) => ({ line: line(text), width: text.length });

describe('paintFrame', () => {
  test('finished lines wrap in the terminal, live rows never do', () => {
    const live = { rows: [row('working'), row('> ab'), row('  c')], cursorRow: 1, cursorColumn: 3 };
    const frame = { shown: nothingLive, finished: [line('done')], live, columns: 80 };
    expect(paintFrame(frame, colors)).toBe(
      '\x1b[?2026h\x1b[?25l' +
        '\r\x1b[J' +
        'done\r\n' +
        // The cursor moves one row up from the last row, and three columns from the left.
        '\x1b[?7lworking\r\n> ab\r\n  c\x1b[?7h\x1b[1A\r\x1b[3C' +
        '\x1b[?25h\x1b[?2026l',
    );
  });

  test('an empty live part leaves the cursor at the start of a row', () => {
    const frame = { shown: nothingLive, finished: [], live: nothingLive, columns: 80 };
    expect(paintFrame(frame, colors)).toContain('\x1b[?7l\x1b[?7h\r\x1b[?25h');
  });
});

describe('eraseLive', () => {
  const shown = { rows: [row('x'.repeat(75)), row(''), row('x'.repeat(50))], cursorRow: 2, cursorColumn: 45 };

  test('moves up to the start of the live part', () => {
    expect(eraseLive(shown, 80)).toBe('\r\x1b[2A\x1b[J');
  });

  test('in a narrower terminal, counts the rows it made of each one', () => {
    // 75 columns need four rows of 20, the empty line needs one, and the cursor is in the third row of its line.
    expect(eraseLive(shown, 20)).toBe('\r\x1b[7A\x1b[J');
  });
});
