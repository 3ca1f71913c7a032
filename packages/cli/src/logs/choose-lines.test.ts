import { expect, test } from 'bun:test';
import type { LogLine } from '@goondan/runtime';
import { checkMeaning, chooseLines, type LineChoice } from './choose-lines.ts';
import { logLevels, readPattern } from './log-options.ts';
import { renderLogLine } from './render-log-line.ts';

const lines = logLevels.map((level, index): LogLine => {
  const time = new Date(Date.UTC(2026, 0, 2, 3, index)).toISOString();
  return { time, level, message: `Message ${index}`, agent: 'host', traceId: `trace-${index}` };
});
const shown = (choice: Partial<LineChoice>) =>
  lines.filter(chooseLines({ level: 'debug', ...choice })).map(({ level }) => level);

test('--level shows lines of this level and more important ones', () => {
  expect(logLevels.map((level) => shown({ level }).length)).toEqual([4, 3, 2, 1]);
  expect(shown({ level: 'warn' })).toEqual(['warn', 'error']);
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

test('--trace takes a turn or a trace, or the beginning of its id; an ambiguous one is rejected', () => {
  const uuids = ['1f3a9c2b-0000-4000-8000-000000000000', '1f3a9c2b-1000-4000-8000-000000000000'];
  const line: LogLine = { time: '2026-01-02T03:04:05.000Z', level: 'info', message: 'Hi', agent: 'host' };
  const ofTurns = uuids.map((uuid) => ({ ...line, turnId: `turn-event-${uuid}`, traceId: `ab${uuid}` }));
  const chosen = (trace: string) => ofTurns.filter(chooseLines({ level: 'info', trace }));
  expect(chosen('1f3a9c2b')).toEqual(ofTurns);
  expect(chosen('1f3a9c2b-1')).toEqual(ofTurns.slice(1));
  expect(chosen('ab1f3a9c2b-0')).toEqual(ofTurns.slice(0, 1));
  const candidates = '"1f3a9c2b" may be 1f3a9c2b-0, 1f3a9c2b-1.';
  expect(() => checkMeaning(ofTurns, '1f3a9c2b')).toThrow(candidates);
  expect(() => checkMeaning(ofTurns, 'ab')).toThrow('"ab" may be trace ab');
  expect(() => checkMeaning(ofTurns, '1f3a9c2b-1')).not.toThrow();
  const printed = ofTurns.map((each) => renderLogLine(each, false));
  expect(printed[0]).toEndWith(' info host 1f3a9c2b: Hi\n');
});

test('the key of a conversation and the id of a turn cannot add a line to the log', () => {
  const forged = { ...lines[0], instance: 'a\nwarn host: b', turnId: 'turn-c\nd' } as LogLine;
  expect(renderLogLine(forged, false).split('\n')).toEqual([expect.stringContaining('Message 0'), '']);
});

test('times are local at a terminal, and UTC in a pipe', () => {
  const line: LogLine = { time: new Date(2026, 0, 2, 3, 4, 5, 67).toISOString(), level: 'info', message: 'Hi' };
  expect(renderLogLine(line, true)).toBe('2026-01-02 03:04:05.067 info Hi\n');
  expect(renderLogLine(line, false)).toBe(`${line.time} info Hi\n`);
});
