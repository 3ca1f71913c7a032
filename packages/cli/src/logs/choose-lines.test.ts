import { describe, expect, test } from 'bun:test';
import type { LogLine } from '@goondan/runtime';
import { chooseLines, type LineChoice, logLevels, readPattern } from './choose-lines.ts';
import { renderLogLine } from './render-log-line.ts';

const lines = logLevels.map((level, index): LogLine => {
  const time = new Date(Date.UTC(2026, 0, 2, 3, index)).toISOString();
  return { time, level, message: `Message ${index}`, agent: 'host', traceId: `trace-${index}` };
});
const shown = (choice: Partial<LineChoice>) =>
  lines.filter(chooseLines({ level: 'debug', ...choice })).map(({ level }) => level);

describe('F-21 logs', () => {
  test('--level shows lines of this level and more important ones, and levels of later versions', () => {
    expect(logLevels.map((level) => shown({ level }).length)).toEqual([4, 3, 2, 1]);
    expect(shown({ level: 'warn' })).toEqual(['warn', 'error']);
    // A later version may write a level that this version does not know.
    const later = { ...lines[0], level: 'notice' } as unknown as LogLine;
    expect(chooseLines({ level: 'error' })(later)).toBe(true);
  });

  test('--since, --trace and --grep choose lines together', () => {
    expect(shown({ since: new Date(Date.UTC(2026, 0, 2, 3, 2)) })).toEqual(['warn', 'error']);
    expect(shown({ trace: 'trace-1' })).toEqual(['info']);
    expect(shown({ grep: readPattern('[12]$') })).toEqual(['info', 'warn']);
    expect(shown({ grep: readPattern('[12]$'), level: 'warn' })).toEqual(['warn']);
  });

  test('--grep searches the line as it is printed, without its time; capital letters make it exact', () => {
    expect(shown({ grep: readPattern('^warn host: message') })).toEqual(['warn']);
    expect(shown({ grep: readPattern('MESSAGE') })).toEqual([]);
    expect(shown({ grep: readPattern('2026') })).toEqual([]);
    // The capital letter of an escape is not one of the text.
    expect(shown({ grep: readPattern('^WARN host:\\Smessage') })).toEqual([]);
    expect(readPattern('\\Sfailed\\B').flags).toContain('i');
    expect(() => readPattern('(')).toThrow('regular expression');
  });

  test('times are local at a terminal, and UTC in a pipe', () => {
    const line: LogLine = { time: new Date(2026, 0, 2, 3, 4, 5, 67).toISOString(), level: 'info', message: 'Hi' };
    expect(renderLogLine(line, true)).toBe('2026-01-02 03:04:05.067 info Hi\n');
    expect(renderLogLine(line, false)).toBe(`${line.time} info Hi\n`);
  });
});
