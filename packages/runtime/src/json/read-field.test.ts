import { expect, test } from 'bun:test';
import { readField } from './read-field.ts';

test.each([
  [{ code: 'E_X' }, 'E_X'],
  [Object.assign(new Error('no'), { code: 7 }), 7],
  [{}, undefined],
  ['a text', undefined],
  [null, undefined],
  [undefined, undefined],
])('the code of %p', (value, code) => {
  expect(readField(value, 'code')).toBe(code);
});

test('a value that throws when it is read has none', () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no');
      },
    },
  );
  expect(readField(hostile, 'code')).toBeUndefined();
});
