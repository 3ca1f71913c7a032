import { describe, expect, test } from 'bun:test';
import { closestName } from './closest-name.ts';

const known = ['when', 'afterTool', 'say', 'call', 'calls', 'fail'];

describe('closestName', () => {
  test.each([
    ['sya', 'say'],
    ['says', 'say'],
    ['aftertool', 'afterTool'],
    ['after_tool', 'afterTool'],
    ['call', 'call'],
    ['callls', 'calls'],
    ['wen', 'when'],
  ])('%s becomes %s', (name, meant) => {
    expect(closestName(name, known)).toBe(meant);
  });

  test.each(['', 'x', 'response', 'xyz'])('finds nothing near %p', (name) => {
    expect(closestName(name, known)).toBeUndefined();
  });

  test('finds nothing near a single letter', () => {
    expect(closestName('b', ['a', 'c'])).toBeUndefined();
    expect(closestName('A', ['a'])).toBe('a');
  });

  test('does not compare a very long name letter by letter', () => {
    expect(closestName('a'.repeat(10_000_000), known)).toBeUndefined();
  });
});
