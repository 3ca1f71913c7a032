import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const repository = join(import.meta.dir, '..');
const built = join(repository, 'packages/cli/dist/studio');

let fresh: string;
beforeAll(() => {
  fresh = join(mkdtempSync(join(tmpdir(), 'build-studio-')), 'studio');
  const { stderr } = Bun.spawnSync([process.execPath, join(import.meta.dir, 'build-studio.ts'), fresh]);
  expect(stderr.toString()).toBe('');
});
afterAll(() => rmSync(dirname(fresh), { recursive: true }));

test('the served page matches the sources', () => {
  const names = [...new Set([...readdirSync(fresh), ...(existsSync(built) ? readdirSync(built) : [])])];
  const stale = names.filter((name) => {
    const [one, other] = [join(fresh, name), join(built, name)];
    return !existsSync(one) || !existsSync(other) || !readFileSync(one).equals(readFileSync(other));
  });
  expect(stale, 'packages/cli/dist/studio is missing or stale: run `npm run build`').toEqual([]);
});

test('it loads nothing from elsewhere, and contains no path of the build machine', () => {
  const page = readFileSync(join(fresh, 'index.html'), 'utf8');
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  expect(loaded.length).toBeGreaterThan(1);
  for (const path of loaded) expect(path).toMatch(/^(?:\.\/[\w.-]+$|data:image\/svg\+xml,)/);
  for (const name of readdirSync(fresh)) {
    expect(readFileSync(join(fresh, name)).includes(repository)).toBe(false);
  }
});
