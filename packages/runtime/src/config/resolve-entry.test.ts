import { afterAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveEntry } from './resolve-entry.ts';

const outside = await realpath(await mkdtemp(join(tmpdir(), 'goondan-entry-')));
const root = join(outside, 'bundle');
await Bun.write(join(outside, 'secret.ts'), '');
await Bun.write(join(root, 'extensions/logging/index.ts'), '');
await Bun.write(join(root, '..dots.ts'), '');
await symlink(join(outside, 'secret.ts'), join(root, 'link-out.ts'));
await symlink(outside, join(root, 'folder-out'));
await symlink(join(root, 'extensions'), join(root, 'link-inside'));
await symlink(join(root, 'loop-b.ts'), join(root, 'loop-a.ts'));
await symlink(join(root, 'loop-a.ts'), join(root, 'loop-b.ts'));
await mkdir(join(outside, 'bundle-too'));
await Bun.write(join(outside, 'bundle-too/index.ts'), '');
await symlink(join(outside, 'bundle-too/index.ts'), join(root, 'sibling.ts'));
afterAll(() => rm(outside, { recursive: true }));

async function refusal(entry: string): Promise<unknown> {
  return resolveEntry(root, entry, 'Extension/logging: entry').then(
    (file) => `it was resolved to ${file}`,
    (error: unknown) => error,
  );
}

describe('an entry', () => {
  test.each([
    ['./extensions/logging/index.ts', 'extensions/logging/index.ts'],
    ['extensions/logging/index.ts', 'extensions/logging/index.ts'],
    ['link-inside/logging/index.ts', 'extensions/logging/index.ts'],
    ['..dots.ts', '..dots.ts'],
  ])('X-16 %s is the real file inside the bundle', async (entry, file) => {
    expect(await resolveEntry(root, entry, 'Extension/logging: entry')).toBe(join(root, file));
  });

  test.each([
    ['../secret.ts', 'contains ".."'],
    ['extensions/../../secret.ts', 'contains ".."'],
    ['extensions/..', 'contains ".."'],
    ['..', 'contains ".."'],
    ['..\\secret.ts', 'contains ".."'],
    [join(outside, 'secret.ts'), 'is an absolute path'],
    ['/etc/passwd', 'is an absolute path'],
    ['C:\\secret.ts', 'is an absolute path'],
    ['c:secret.ts', 'is an absolute path'],
    ['link-out.ts', 'is a link that leads out of the bundle'],
    ['folder-out/secret.ts', 'is a link that leads out of the bundle'],
    ['folder-out', 'is a link that leads out of the bundle'],
    // The path of the sibling folder begins with the same characters as the path of the bundle.
    ['sibling.ts', 'is a link that leads out of the bundle'],
    ['index.ts\0.png', 'contains a NUL byte'],
  ])('X-16 %j is rejected', async (entry, why) => {
    expect(await refusal(entry)).toMatchObject({
      code: 'E_PATH_OUTSIDE',
      message: `Extension/logging: entry "${entry.replaceAll('\0', '\\0')}" ${why}.`,
      suggestion: expect.stringContaining('relative path'),
    });
  });

  test.each([
    ['that is not there', 'nowhere.ts'],
    ['below a file', 'extensions/logging/index.ts/more.ts'],
    ['that is a circle of links', 'loop-a.ts'],
    ['with a name no disk can hold', `${'x'.repeat(300)}.ts`],
  ])('X-04 an entry %s is not a file', async (_title, entry) => {
    expect(await resolveEntry(root, entry, 'Extension/logging: entry')).toBeUndefined();
  });

  test('X-04 in a bundle that does not exist is not a file', async () => {
    expect(await resolveEntry(join(root, 'nowhere'), 'index.ts', 'Extension/logging: entry')).toBeUndefined();
  });
});
