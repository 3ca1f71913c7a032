import { expect, test } from 'bun:test';
import { Glob } from 'bun';
import { join } from 'node:path';
import { VERSION } from './version.ts';

test('every package has the version that the runtime reports', async () => {
  const packages = join(import.meta.dir, '../../..');
  const versions = await Promise.all(
    [...new Glob('*/package.json').scanSync(packages)].map(async (path) => {
      const { version }: { version: string } = await Bun.file(join(packages, path)).json();
      return version;
    }),
  );
  expect(versions.length).toBeGreaterThan(3);
  expect([...new Set(versions)]).toEqual([VERSION]);
});
