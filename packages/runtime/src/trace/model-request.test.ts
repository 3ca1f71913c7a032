import { expect, test } from 'bun:test';
import { WrittenRequests } from './model-request.ts';

test('a request refers to the newest one of each asker, for at most eight askers', () => {
  const written = new WrittenRequests();
  written.add(undefined, 'old', ['a', 'b', 'c']);
  for (let index = 0; index < 8; index++) {
    written.add(`asker-${index}`, `key-${index}`, [`${index}`]);
    written.add(undefined, `step-${index}`, ['a', 'b']);
  }
  expect(written.closest(['a', 'b', 'c'])).toEqual({ effect: 'step-7', count: 2 });
  expect(written.closest(['1', '2'])).toEqual({ effect: 'key-1', count: 1 });
  expect(written.closest(['0'])).toBeUndefined();
});
