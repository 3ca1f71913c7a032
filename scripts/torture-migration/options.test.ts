import { expect, test } from 'bun:test';
import { readOptions } from './options.ts';

test('options have defaults, and a random seed', () => {
  expect(readOptions([])).toEqual({ conversations: 200, kills: 100, seed: expect.any(Number) });
  expect(readOptions(['--seed', '7', '--kills', '1', '--old', 'there'])).toMatchObject({
    seed: 7,
    kills: 1,
    old: 'there',
  });
  expect(readOptions(['--help'])).toBe('help');
});

test.each([
  ['--kills', '0'],
  ['--kills', 'many'],
  ['--conversations', '10'],
  ['--seed', '1.5'],
])('%s %s is rejected by its name', (name, value) => {
  expect(() => readOptions([name, value])).toThrow(`${name} ${value}: not a whole number from`);
});
