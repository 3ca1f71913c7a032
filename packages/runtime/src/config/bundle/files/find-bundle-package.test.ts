import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { findBundlePackage } from './find-package.ts';

test('every bundle has the packages of Goondan; another package must be installed', () => {
  expect(findBundlePackage(tmpdir(), '@goondan/base')?.folder).toEndWith('base');
  expect(findBundlePackage(tmpdir(), 'fast-check')).toBeUndefined();
  expect(findBundlePackage(import.meta.dir, 'fast-check')).toBeDefined();
});
