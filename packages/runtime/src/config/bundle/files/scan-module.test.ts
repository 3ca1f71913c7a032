import { describe, expect, test } from 'bun:test';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { ModuleScanner } from './scan-module.ts';

function scan(folder: string, entry = 'a.ts') {
  return new ModuleScanner().scan(join(folder, entry), folder);
}

function problemsOf(files: Record<string, string>, entry = 'a.ts'): string[] {
  using bundle = temporaryBundle(files);
  return scan(bundle.folder, entry).problems.map(
    ({ type, file, text, isOptional }) => `${type} ${file}: ${text}${isOptional ? ' (optional)' : ''}`,
  );
}

describe('the imports of a module', () => {
  test.each([
    [
      'imports of the runtime',
      `import { GoondanError } from '@goondan/types';\nimport { x } from '@goondan/core';\nconsole.log(GoondanError, x);`,
    ],
    [
      'imports of Bun and Node',
      `import { file } from 'bun';\nimport 'bun:sqlite';\nimport 'node:fs';\nimport 'path';\nconsole.log(file);`,
    ],
    [
      'imports of types alone',
      `import type { A } from 'nowhere';\nimport { type B } from 'nowhere';\nimport { C } from 'nowhere';\nlet x: A | B | C;`,
    ],
    ['texts that only look like imports', `// import 'nowhere';\nconst x = "import 'nowhere'";`],
    ['computed imports', `const name = 'nowhere';\nawait import(name);`],
    ['imports by a name of its own', `import '#inside';`],
  ])('%s are found', (_what, text) => {
    expect(problemsOf({ 'a.ts': text })).toEqual([]);
  });

  test('a file that two modules import is read once, and its problems are those of both', () => {
    const shared = `import './shared.ts';`;
    using bundle = temporaryBundle({ 'a.ts': shared, 'b.ts': shared, 'shared.ts': `import 'nowhere';` });
    const scanner = new ModuleScanner();
    const first = scanner.scan(join(bundle.folder, 'a.ts'), bundle.folder);
    expect(first.problems).toMatchObject([{ type: 'missing', file: 'shared.ts', text: 'nowhere' }]);
    writeFileSync(join(bundle.folder, 'shared.ts'), '');
    const second = scanner.scan(join(bundle.folder, 'b.ts'), bundle.folder);
    expect(second.problems).toEqual(first.problems);
    expect(second.digest).not.toBe(first.digest);
  });

  test('no more than 200 imports that lead nowhere are looked up', () => {
    const imports = Array.from({ length: 2_000 }, (_, index) => `import './n${index}';`);
    const problems = problemsOf({ 'a.ts': `${imports.join('\n')}\nimport './b.ts';`, 'b.ts': imports.join('\n') });
    expect(problems).toHaveLength(201);
    expect(problems.at(-1)).toStartWith('limit a.ts: was not checked from a.ts on: ');
  });

  test('an import that a file repeats is looked up once', () => {
    const imports = Array.from({ length: 30_000 }, () => `import './b.ts';`).join('\n');
    expect(problemsOf({ 'a.ts': `${imports}\nimport './nowhere.ts';`, 'b.ts': '' })).toEqual([
      'missing a.ts: ./nowhere.ts',
    ]);
  });

  test('files are listed and hashed, also those that are imported by a name of tsconfig.json or package.json', () => {
    using bundle = temporaryBundle({
      'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./lib/*"] } } }',
      'package.json': '{ "imports": { "#inside": "./lib/inside.ts" } }',
      'a.ts': `import '@/helper.ts';\nimport '#inside';\nimport '@/nowhere.ts';`,
      'lib/helper.ts': `import './deep.ts';`,
      'lib/deep.ts': '',
      'lib/inside.ts': '',
      'lib/other.ts': '',
    });
    const first = scan(bundle.folder);
    expect(first.files).toEqual(['a.ts', 'lib/deep.ts', 'lib/helper.ts', 'lib/inside.ts']);
    expect(first.problems).toEqual([]);
    writeFileSync(join(bundle.folder, 'lib/deep.ts'), 'console.log(1);');
    expect(scan(bundle.folder).digest).not.toBe(first.digest);
  });

  test('an import may leave the folder of one module and stay in that of another', () => {
    using bundle = temporaryBundle({
      'inner/a.ts': `import './shared.ts';`,
      'inner/shared.ts': `import '../b.ts';`,
      'a.ts': `import './inner/shared.ts';`,
      'b.ts': `import 'nowhere';`,
    });
    const scanner = new ModuleScanner();
    const inner = join(bundle.folder, 'inner');
    expect(scanner.scan(join(inner, 'a.ts'), inner).problems).toEqual([]);
    const { problems } = scanner.scan(join(bundle.folder, 'a.ts'), bundle.folder);
    expect(problems).toMatchObject([{ type: 'missing', file: 'b.ts', text: 'nowhere' }]);
  });

  test('a package import is found when the package is installed, here or above', () => {
    const text = `import 'one';\nimport '@two/parts/deep.js';\n`;
    const installed = { 'node_modules/one/package.json': '{}', 'node_modules/@two/parts/package.json': '{}' };
    expect(problemsOf({ 'a.ts': text, ...installed })).toEqual([]);
    expect(problemsOf({ 'inner/a.ts': text, ...installed }, 'inner/a.ts')).toEqual([]);
    expect(problemsOf({ 'a.ts': text })).toEqual(['missing a.ts: one', 'missing a.ts: @two/parts/deep.js']);
  });

  test('dynamic imports, which may be meant to fail, are told apart from static ones', () => {
    const text = `try { require('one'); } catch {}\nawait import('two').catch(() => {});\nimport 'three';\n`;
    expect(problemsOf({ 'a.ts': text })).toEqual(
      ['missing a.ts: three', 'missing a.ts: one (optional)', 'missing a.ts: two (optional)'].toSorted(
        (one, other) => text.indexOf(one.split(': ')[1] ?? '') - text.indexOf(other.split(': ')[1] ?? ''),
      ),
    );
  });

  test.each([
    [false, `import { b } from './b.ts';\nb();`],
    [false, `await import('node:fs');`],
    [true, `export const late = () => import('./b.ts');`],
    [true, `export const late = () => require('./b.ts');`],
    [true, `import './middle.ts';`],
  ])('L-01 it is %p that files of the folder are imported while the module runs: %s', (isLazy, text) => {
    using bundle = temporaryBundle({
      'a.ts': text,
      'b.ts': 'export const b = () => 1;',
      'middle.ts': `export const late = () => import('./b.ts');`,
    });
    expect(scan(bundle.folder).isLazy).toBe(isLazy);
  });

  test.each([
    ['./b', 'b.ts'],
    ['./b', 'b/index.ts'],
    ['./b.ts', 'b.ts'],
    ['./b.js', 'b.ts'],
    ['./b.mjs', 'b.mts'],
    ['./b.json', 'b.json'],
    ['../b', '../b.tsx'],
  ])('%s is %s', (specifier, file) => {
    const path = join('inner', file);
    expect(problemsOf({ 'inner/a.ts': `import x from '${specifier}';\nx();`, [path]: '{}' }, 'inner/a.ts')).toEqual([]);
  });

  test('circles are followed once, and imports out of the folder are not followed', () => {
    const files = {
      'in/a.ts': `import './b';\nimport '../out';`,
      'in/b.ts': `import './a';\nimport 'nowhere';`,
      'out.ts': `import 'elsewhere';`,
    };
    using bundle = temporaryBundle(files);
    const { problems } = new ModuleScanner().scan(join(bundle.folder, 'in/a.ts'), join(bundle.folder, 'in'));
    expect(problems).toMatchObject([{ file: 'b.ts', text: 'nowhere' }]);
    symlinkSync('../out.ts', join(bundle.folder, 'in/link.ts'));
    writeFileSync(join(bundle.folder, 'in/b.ts'), `import './link';`);
    expect(new ModuleScanner().scan(join(bundle.folder, 'in/a.ts'), join(bundle.folder, 'in')).problems).toEqual([]);
  });

  test("imports that a tsconfig.json defines, and the package's own name, are not checked", () => {
    const text = `import '@/lib';`;
    expect(
      problemsOf({ 'a.ts': text, 'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./*"] } } }' }),
    ).toEqual([]);
    const tsconfig = (settings: string) =>
      problemsOf({ 'a.ts': text, 'tsconfig.json': `{ "compilerOptions": ${settings} }` });
    expect(tsconfig(`{ "baseUrl": "." }`)).toEqual([]);
    expect(tsconfig(`{ "paths": { /* ours */ "x": ["y"], "@/lib" : ["./*"], } }`)).toEqual([]);
    expect(tsconfig(`{ "paths": { "*": ["./*"] } }`)).toEqual([]);
    expect(tsconfig(`{ "paths": { "~/*": ["./*"], "@/libs": ["./*"], "@/*/x": ["./*"] } }`)).toEqual([
      'missing a.ts: @/lib',
    ]);
    expect(problemsOf({ 'a.ts': `import 'me/part';`, 'package.json': '{"name":"me"}' })).toEqual([]);
    expect(problemsOf({ 'a.ts': text, 'tsconfig.json': '{}', 'package.json': '[' })).toEqual(['missing a.ts: @/lib']);
  });
});

describe('the digest of a module', () => {
  test('L-01 changes with the module and its imports, and with nothing else', () => {
    using bundle = temporaryBundle({
      'a.ts': `import { b } from './b';\nexport const a = b;\n`,
      'b.ts': 'export const b = 1;\n',
      'c.ts': '',
    });
    const change = (file: string, text: string) => writeFileSync(join(bundle.folder, file), text);
    const first = scan(bundle.folder).digest;
    change('c.ts', 'changed');
    expect(scan(bundle.folder).digest).toBe(first);
    change('b.ts', 'export const b = 2;\n');
    const second = scan(bundle.folder).digest;
    expect(second).not.toBe(first);
    change('a.ts', `import { b } from './b';\nexport const a = b + 1;\n`);
    expect(scan(bundle.folder).digest).not.toBe(second);
  });

  test('L-01 does not depend on where the bundle is', () => {
    const files = { 'a.ts': `import './b';\n`, 'b.ts': '' };
    using one = temporaryBundle(files);
    using other = temporaryBundle(files);
    expect(scan(one.folder).digest).toBe(scan(other.folder).digest);
  });
});
