import { expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import { maskJson, maskSecrets } from '../log/mask-secrets.ts';
import { applyEdit } from './apply-edit.ts';

const secret = 'hunter2-hunter2';
const other = 'swordfish-swordfish';
const real = { url: 'https://a.b', token: secret, list: [secret, 'b'], deep: { auth: `Bearer ${secret}` }, n: 1 };
const mask = maskSecrets([secret]);
const seen = maskJson(real, mask) as typeof real;

test('a masked value that a person left gets its real value back, and nothing else is merged', () => {
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
])('a masked text that was moved to %s is refused', (_, edited, path) => {
  expect(() => applyEdit(real, seen, edited)).toThrow(
    expect.objectContaining({ code: 'E_QUESTION_REPLY', message: expect.stringContaining(path) }),
  );
});

const hosts = {
  hosts: ['a', 'b', 'c'].map((host) => ({ host, token: `${secret}-${host}` })),
  keys: [secret, `${secret}-2`],
};
const shownHosts = maskJson(
  hosts,
  maskSecrets([...hosts.hosts.map(({ token }) => token), ...hosts.keys]),
) as typeof hosts;
const [a, b, c] = shownHosts.hosts;

test.each([
  ['the first item was removed', { hosts: [b, c] }, 'hosts.0.token'],
  ['items were swapped', { hosts: [b, a, c] }, 'hosts.0.token'],
  ['an item was put first', { hosts: [{ host: 'd' }, a, b, c] }, 'hosts.1.token'],
  ['one of two items that look the same was removed', { keys: shownHosts.keys.slice(1) }, 'keys.0'],
])('no item of a list gets the secret of another one: %s', (_, edited, path) => {
  expect(a?.token).toBe(b?.token ?? '');
  // Safe: the edit is JSON.
  expect(() => applyEdit(hosts, shownHosts, edited as JsonObject)).toThrow(
    expect.objectContaining({ code: 'E_QUESTION_REPLY', message: expect.stringContaining(path) }),
  );
});

test('the items of a list that stayed at their places keep their secrets', () => {
  const [realA, realB, realC] = hosts.hosts;
  // Safe: the edits are JSON.
  const edit = (...list: unknown[]) => applyEdit(hosts, shownHosts, { hosts: list } as JsonObject)['hosts'] as unknown;
  expect(edit(a, b)).toEqual([realA, realB]);
  expect(edit(a, b, c, { host: 'd' })).toEqual([realA, realB, realC, { host: 'd' }]);
  expect(edit(a, { ...b, host: 'x' }, c)).toEqual([realA, { ...realB, host: 'x' }, realC]);
  expect(applyEdit(hosts, shownHosts, { keys: shownHosts.keys })).toEqual({ keys: hosts.keys });
});

test('a masked name of a field gets its real name back', () => {
  const named = { [secret]: 1, other: 2 };
  const shown = maskJson(named, mask) as typeof named;
  expect(Object.keys(shown)).not.toContain(secret);
  expect(applyEdit(named, shown, { ...shown, other: 3 })).toEqual({ [secret]: 1, other: 3 });
  const both = { [secret]: 1, [`${secret}-${secret}`]: 2 };
  expect(applyEdit(both, both, both)).toEqual(both);
  // Two names that look alike cannot be told apart.
  const alike = { [secret]: 1, [other]: 2 };
  const masked = maskJson(alike, maskSecrets([secret, other])) as typeof alike;
  expect(() => applyEdit(alike, masked, masked)).toThrow(expect.objectContaining({ code: 'E_QUESTION_REPLY' }));
});
