import { expect, test } from 'bun:test';
import { findSchema, installedSchema } from './find-schema.ts';

test.each([
  ['in the bundle', ['/a/b', '/a'], installedSchema],
  ['above', ['/a', '/'], `../${installedSchema}`],
  ['nowhere', [], installedSchema],
])('%s', (_name, installedIn, path) => {
  const there = installedIn.map((folder) => `${folder === '/' ? '' : folder}/${installedSchema}`);
  expect(findSchema('/a/b', (candidate) => there.includes(candidate))).toBe(path);
});
