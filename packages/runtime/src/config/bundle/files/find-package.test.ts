import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { findPackage } from './find-package.ts';

test('a package is found in this folder, then in the folders above', () => {
  using project = temporaryBundle({
    'node_modules/one/x': '',
    'inner/node_modules/one/x': '',
    'node_modules/@two/parts/x': '',
  });
  const from = join(project.folder, 'inner');
  expect(findPackage(from, 'one')?.folder).toBe(join(from, 'node_modules/one'));
  expect(findPackage(from, '@two/parts')?.folder).toBe(join(project.folder, 'node_modules/@two/parts'));
  expect(findPackage(from, 'three')).toBeUndefined();
});

test.each([
  '../escape',
  '..',
  '.',
  '',
  '/',
  '/etc',
  'one/../../escape',
  '@two',
  '@two/../../escape',
  'One',
  'one\\two',
  'a\0b',
])('%j is not a package name and finds nothing', (name) => {
  using project = temporaryBundle({ 'escape/x': '', 'node_modules/one/x': '', 'node_modules/@two/parts/x': '' });
  expect(findPackage(project.folder, name)).toBeUndefined();
});
