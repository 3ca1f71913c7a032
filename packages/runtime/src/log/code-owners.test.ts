import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { type CodeOwner, CodeOwners } from './code-owners.ts';

const packages = join(import.meta.dir, '..', '..', '..');
const owners = new CodeOwners(['/somewhere/bundle']);

test.each<[string, string, CodeOwner, string]>([
  ['the runtime', join(packages, 'runtime/src/log/a.ts'), 'goondan', '@goondan/runtime/src/log/a.ts'],
  ['another package of Goondan', join(packages, 'base/src/a.ts'), 'library', '@goondan/base/src/a.ts'],
  ['the bundle', '/somewhere/bundle/tools/a.ts', 'bundle', 'tools/a.ts'],
  ['a package of the bundle', '/somewhere/bundle/node_modules/acme/a.js', 'package', 'node_modules/acme/a.js'],
  ['a folder with a similar name', '/somewhere/bundle-2/a.ts', 'package', '../bundle-2/a.ts'],
])('a file of %s has an owner, and a name without a folder of the machine', (_, path, owner, file) => {
  expect(owners.find(path)).toEqual({ owner, file });
});
