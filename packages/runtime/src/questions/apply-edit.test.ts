import { expect, test } from 'bun:test';
import { maskJson, maskSecrets } from '../log/mask-secrets.ts';
import { applyEdit } from './apply-edit.ts';

const secret = 'hunter2-hunter2';
const real = { url: 'https://a.b', token: secret, list: [secret, 'b'], deep: { auth: `Bearer ${secret}` }, n: 1 };
const mask = maskSecrets([secret]);
const seen = maskJson(real, mask) as typeof real;

test('F-13 a masked value that a person left gets its real value back, and nothing else is merged', () => {
  expect(seen.token).not.toBe(secret);
  expect(applyEdit(real, seen, { ...seen, url: 'https://c.d' })).toEqual({ ...real, url: 'https://c.d' });
  // Removed fields stay removed, added ones are added.
  expect(applyEdit(real, seen, { deep: seen.deep, more: [true] })).toEqual({ deep: real.deep, more: [true] });
  expect(applyEdit(real, seen, { token: 'mine', list: ['x', 'b'] })).toEqual({ token: 'mine', list: ['x', 'b'] });
  expect(applyEdit(real, real, { n: 2 })).toEqual({ n: 2 });
});

test.each([
  ['another field', { url: seen.token }, 'url'],
  ['another place of a list', { list: ['b', seen.token] }, 'list.1'],
  ['a new field', { deep: { other: seen.deep.auth } }, 'deep.other'],
])('F-13 a masked text that was moved to %s is refused', (_, edited, path) => {
  expect(() => applyEdit(real, seen, edited)).toThrow(
    expect.objectContaining({ code: 'E_QUESTION_REPLY', message: expect.stringContaining(path) }),
  );
});

test('a masked name of a field gets its real name back', () => {
  const named = { [secret]: 1, other: 2 };
  const shown = maskJson(named, mask) as typeof named;
  expect(Object.keys(shown)).not.toContain(secret);
  expect(applyEdit(named, shown, { ...shown, other: 3 })).toEqual({ [secret]: 1, other: 3 });
  const both = { [secret]: 1, [secret.toUpperCase()]: 2 };
  expect(applyEdit(both, both, both)).toEqual(both);
});
