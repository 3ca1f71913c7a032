import { describe, expect, test } from 'bun:test';
import { parseCron } from './parse-cron.ts';

describe('a cron expression', () => {
  test.each<[text: string, minutes: number[], hours: number[]]>([
    ['5 4 * * *', [5], [4]],
    ['*/20 0-2 * * *', [0, 20, 40], [0, 1, 2]],
    ['10-30/10,59 8,20 * * *', [10, 20, 30, 59], [8, 20]],
    ['50/5 22/1 * * *', [50, 55], [22, 23]],
    ['59,1,59 3 * * *', [1, 59], [3]],
    ['  0   0  *  * * ', [0], [0]],
    ['@hourly', [0], Array.from({ length: 24 }, (_, hour) => hour)],
    ['@daily', [0], [0]],
    ['@MIDNIGHT', [0], [0]],
  ])('%s: its minutes and hours', (text, minutes, hours) => {
    expect(parseCron(text)).toMatchObject({ minutes, hours });
  });

  test.each<[text: string, day: number, month: number, weekday: number, fits: boolean]>([
    ['0 0 * * *', 31, 12, 4, true],
    ['0 0 13 * *', 13, 2, 5, true],
    ['0 0 13 * *', 12, 2, 4, false],
    ['0 0 * jan,MAR-may *', 1, 4, 3, true],
    ['0 0 * jan,mar-may *', 1, 2, 0, false],
    ['0 0 * * mon-fri', 2, 3, 1, true],
    ['0 0 * * mon-fri', 1, 3, 0, false],
    ['0 0 * * 7', 1, 3, 0, true],
    ['0 0 * * 0', 1, 3, 0, true],
    ['0 0 * * 5-7', 1, 3, 0, true],
    ['0 0 * * */2', 1, 3, 0, true],
    ['0 0 * * */2', 2, 3, 1, false],
    ['0 0 * * 7/1', 1, 3, 0, true],
    ['0 0 * * 6/1', 7, 3, 6, true],
    ['0 0 * * 6/1', 1, 3, 0, false],
    // When both day fields are restricted, a day needs to match only one of them.
    ['0 0 13 * fri', 13, 3, 2, true],
    ['0 0 13 * fri', 6, 3, 5, true],
    ['0 0 13 * fri', 7, 3, 6, false],
    // When a day field begins with a star, a day must match both fields.
    ['0 0 */2 * fri', 6, 3, 5, false],
    ['0 0 */2 * fri', 13, 3, 5, true],
    ['@weekly', 1, 3, 0, true],
    ['@monthly', 1, 3, 0, true],
    ['@monthly', 2, 3, 1, false],
    ['@yearly', 1, 1, 4, true],
    ['@annually', 1, 2, 0, false],
  ])('%s on day %i of month %i, weekday %i: %p', (text, day, month, weekday, fits) => {
    expect(parseCron(text).fitsDay(day, month, weekday)).toBe(fits);
  });

  test.each([
    ['', 'it has 1 fields, not 5'],
    ['* * * *', 'it has 4 fields, not 5'],
    ['* * * * * *', 'it has 6 fields, not 5'],
    ['60 * * * *', 'the minute "60" is not between 0 and 59'],
    ['* 24 * * *', 'the hour "24" is not between 0 and 23'],
    ['* * 0 * *', 'the day of the month "0" is not between 1 and 31'],
    ['* * * 13 *', 'the month "13" is not between 1 and 12'],
    ['* * * * 8', 'the day of the week "8" is not between 0 and 7'],
    ['* * * foo *', 'the month "foo" is not between 1 and 12'],
    ['mon * * * *', 'the minute "mon" is not between 0 and 59'],
    ['30-10 * * * *', 'the minute "30-10" ends before it begins'],
    ['* * * * fri-mon', 'the day of the week "fri-mon" ends before it begins'],
    ['*/0 * * * *', 'the minute "*/0" has a step of 0'],
    ['1,,2 * * * *', 'the minute "" is not understood'],
    ['1- * * * *', 'the minute "1-" is not understood'],
    ['-1 * * * *', 'the minute "-1" is not understood'],
    ['1.5 * * * *', 'the minute "1.5" is not understood'],
    ['? * * * *', 'the minute "?" is not understood'],
    ['* * L * *', 'the day of the month "l" is not between 1 and 31'],
    ['0 0 30 feb *', 'there is no such day in any of its months'],
    ['0 0 31 4,6,9,11 *', 'there is no such day in any of its months'],
    ['@reboot', '"@reboot" is unknown'],
  ])('%s is rejected: %s', (text, problem) => {
    expect(() => parseCron(text)).toThrow(expect.objectContaining({ message: expect.stringContaining(problem) }));
  });
});
