import { expect, test } from 'bun:test';
import { addSwap } from './read-swaps.ts';

test('--swap needs a name and a file', () => {
  expect(addSwap('Extension/x=/a.ts', { y: 'b.ts' })).toEqual({ y: 'b.ts', x: '/a.ts' });
  for (const text of ['x', '=a.ts', 'Extension/=a.ts', 'x='])
    expect(() => addSwap(text)).toThrow('It is not of the form');
});
