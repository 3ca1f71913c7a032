import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { findBundlePackage } from './find-package.ts';

test('R-04 a package of Goondan itself is there for every bundle, another one only where it is installed', () => {
  expect(findBundlePackage(tmpdir(), '@goondan/base')?.folder).toEndWith('base');
  expect(findBundlePackage(tmpdir(), 'fast-check')).toBeUndefined();
  expect(findBundlePackage(import.meta.dir, 'fast-check')).toBeDefined();
});
