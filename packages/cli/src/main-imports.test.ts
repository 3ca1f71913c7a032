// Commands import their dependencies only when they run, because `gdn --help` is frequent and must load little.
import { expect, test } from 'bun:test';
import { join, relative } from 'node:path';

const transpiler = new Bun.Transpiler({ loader: 'ts' });

/**
 * Lists everything that is imported before the first command runs: our own files, as paths below `src`, and packages.
 */
async function importedAtStart(): Promise<{ files: string[]; packages: string[] }> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open = [join(import.meta.dir, 'main.ts')];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const { path, kind } of transpiler.scanImports(await Bun.file(file).text())) {
      if (kind !== 'import-statement') continue;
      if (path.startsWith('.')) open.push(join(file, '..', path));
      else packages.add(path);
    }
  }
  return { files: [...files].map((file) => relative(import.meta.dir, file)), packages: [...packages] };
}

test('no part of the chat and no runtime is imported before a command runs', async () => {
  const { files, packages } = await importedAtStart();
  expect(files).toContain('commands/run.ts');
  expect(files.filter((file) => file.startsWith('chat/'))).toEqual([]);
  expect(packages.filter((name) => !name.startsWith('node:')).toSorted()).toEqual(['@goondan/types', 'commander']);
});

test('`gdn run` imports the chat, and no other command does', async () => {
  const glob = new Bun.Glob('**/*.ts').scanSync(import.meta.dir);
  const sources = [...glob].filter((file) => !file.startsWith('chat/') && !file.endsWith('.test.ts'));
  const importers: string[] = [];
  for (const file of sources) {
    const imports = transpiler.scanImports(await Bun.file(join(import.meta.dir, file)).text());
    if (imports.some(({ path }) => path.includes('/chat/'))) importers.push(file);
  }
  expect(importers).toEqual(['commands/run.ts']);
});
