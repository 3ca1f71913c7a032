import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import { anyText } from '../../../../../test/any-text.ts';
import { instanceFolderName } from './instance-paths.ts';
import { pathSegment } from './path-segment.ts';

test('a safe name stays unchanged', () => {
  for (const name of ['default', 'user-42', 'a', 'a_b', '0'.repeat(64)]) expect(pathSegment(name)).toBe(name);
});

test('similar names get different segments', () => {
  const long = 'k'.repeat(128);
  const keys = [
    'a.b',
    'a/b',
    'a b',
    'A/B',
    'a-b',
    '한글',
    '日本',
    '',
    '.',
    '..',
    `${long}1`,
    `${long}2`,
    'Default',
    'default',
  ];
  const segments = keys.map(pathSegment);
  expect(new Set(segments).size).toBe(keys.length);
  // This key looks like the folder of another key.
  expect(pathSegment(pathSegment('a/b'))).not.toBe(pathSegment('a/b'));
});

test('any two names get different segments, safe in a path', () => {
  const name = fc.oneof(anyText(), fc.string({ unit: fc.constantFrom('a', 'A', '-', '/', '.', '한', '0') }));
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(pathSegment(one)).toMatch(/^[a-z0-9_][a-z0-9_-]{0,63}$/);
      expect(pathSegment(pathSegment(one)) === pathSegment(one)).toBe(pathSegment(one) === one);
      if (one !== other) expect(pathSegment(one)).not.toBe(pathSegment(other));
    }),
    { numRuns: samples(2_000) },
  );
});

test('the border between agent and key is unique', () => {
  expect(instanceFolderName('coder', 'default')).toBe('coder~default');
  expect(instanceFolderName('a', 'b~c')).not.toBe(instanceFolderName('a~b', 'c'));
});
