import { expect, test } from 'bun:test';
import { StoreAddress } from './address.ts';
import { codedError } from './coded-error.ts';
import { repeating } from './repeat.ts';
import { type Patience, TooLate } from './within.ts';

test('S-10 a late statement is repeated after a wait, each time with twice the time', async () => {
  const times: (number | undefined)[] = [];
  const began = performance.now();
  const late = codedError(new TooLate(), StoreAddress.parse('postgres://goondan@one/goondan'));
  const query = (_statement: string, _values?: unknown, patience?: Patience) => {
    times.push(patience?.times);
    return Promise.reject(late);
  };
  expect(repeating({ query }, () => times.length < 3)('select 1')).rejects.toBe(late);
  expect(times).toEqual([1, 2, 4]);
  expect(performance.now() - began).toBeGreaterThan(25);
});
