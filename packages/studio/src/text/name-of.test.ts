import { expect, test } from 'bun:test';
import { nameOf } from './name-of.ts';

test.each([
  ['shop-0123456789abcdef', 'My Shop', 'My Shop'],
  ['shop-0123456789abcdef', undefined, 'shop'],
  ['shop', undefined, 'shop'],
  ['shop-2', undefined, 'shop-2'],
  ['-0123456789abcdef', undefined, '-0123456789abcdef'],
])('%p of the swarm %p is named %p', (id, swarm, name) => {
  expect(nameOf(id, swarm)).toBe(name);
});
