import { describe, expect, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { findPreload, findPreloadIn } from './find-preload.ts';

describe('the preload of a bunfig.toml', () => {
  test.each([
    ['preload = ["./a.ts"]', '1:1'],
    ['# a\r\nsmol = true\r\n  "preload"=[', '3:3'],
    ['telemetry = false\npreload = "./a.ts"\npreload = "./b.ts"\n[test]\n', '2:1'],
  ])('%j is reported at %s', (text, place) => {
    const findings = findPreloadIn(text);
    expect(findings).toMatchObject([
      { severity: 'warning', problem: { code: 'E_BUNFIG_REFUSED', file: 'bunfig.toml' } },
    ]);
    expect(findings.map(({ problem: { line, column } }) => `${line}:${column}`)).toEqual([place]);
  });

  test.each(['', 'smol = true', '[test]\npreload = ["./setup.ts"]', '# preload = 1', 'preloaded = 1'])(
    '%j is not a preload',
    (text) => {
      expect(findPreloadIn(text)).toEqual([]);
    },
  );

  test('a link out of the bundle, a pipe and a missing file are not read', async () => {
    using outside = temporaryBundle({ 'bunfig.toml': 'preload = []\n' });
    using bundle = temporaryBundle({ 'goondan.yaml': '' });
    expect(await findPreload(bundle.folder)).toEqual([]);
    expect(await findPreload(outside.folder)).toHaveLength(1);
    symlinkSync(join(outside.folder, 'bunfig.toml'), join(bundle.folder, 'bunfig.toml'));
    expect(await findPreload(bundle.folder)).toEqual([]);
    using piped = temporaryBundle({ 'goondan.yaml': '' });
    Bun.spawnSync(['mkfifo', join(piped.folder, 'bunfig.toml')]);
    expect(await findPreload(piped.folder)).toEqual([]);
  });

  test('no text takes long to search', () => {
    for (const text of [' '.repeat(1_000_000), '['.repeat(1_000_000), '"'.repeat(1_000_000), '\n'.repeat(1_000_000)]) {
      expect(findPreloadIn(text)).toEqual([]);
    }
  });
});
