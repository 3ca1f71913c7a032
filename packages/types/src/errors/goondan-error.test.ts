import { expect, test } from 'bun:test';
import { GoondanError } from './goondan-error.ts';

test('an error of another copy of the package is one', async () => {
  const copy: typeof import('./goondan-error.ts') = await import(`${import.meta.dir}/goondan-error.ts?copy`);
  const foreign: unknown = new copy.GoondanError('E_CANCELLED', 'Stopped.');
  expect(foreign).not.toBeInstanceOf(GoondanError);
  expect([GoondanError.is(foreign), copy.GoondanError.is(new GoondanError('E_CANCELLED', 'Stopped.'))]).toEqual([
    true,
    true,
  ]);
  expect(GoondanError.is(foreign) && foreign.code).toBe('E_CANCELLED');
});

test('nothing else is one, though it has the fields', () => {
  const real = new GoondanError('E_CANCELLED', 'Stopped.');
  const alike = Object.assign(new Error('Stopped.'), { name: 'GoondanError', code: 'E_CANCELLED' });
  const others = [undefined, null, 'E_CANCELLED', {}, Object.assign({}, real), alike, structuredClone(alike)];
  expect(others.map((other) => GoondanError.is(other))).toEqual(others.map(() => false));
  // The mark must not appear among the error's own fields.
  expect(Reflect.ownKeys(real).filter((key) => typeof key === 'symbol')).toEqual([]);
});

test('an error takes the field extension from the code that made it', () => {
  const error = new GoondanError('E_NEXT_TWICE', 'Twice.');
  expect(error.extension).toBeUndefined();
  expect(Object.assign(error, { extension: 'greedy' }).extension).toBe('greedy');
  // The absent field must not appear among the error's own fields.
  expect(Object.keys(new GoondanError('E_NEXT_TWICE', 'Twice.'))).not.toContain('extension');
});

test('an error of a model call says how it failed, and whether the retry uses something else', () => {
  const options = { failure: 'rate-limit', isFallback: true } as const;
  expect(new GoondanError('E_MODEL_FAILED', 'Full.', options)).toMatchObject(options);
  expect(Object.keys(new GoondanError('E_MODEL_FAILED', 'Full.'))).not.toContain('isFallback');
});

test('a proxy that throws when it is examined is not a GoondanError', () => {
  const trap = new Proxy(new Error('x'), {
    has: () => {
      throw new Error('examined');
    },
  });
  expect(GoondanError.is(trap)).toBe(false);
});
