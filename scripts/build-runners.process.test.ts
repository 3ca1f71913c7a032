import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SourceDocument } from '../packages/runtime/src/config/bundle/place.ts';
import { findKnownDocuments, type KnownYaml } from '../packages/runtime/src/config/bundle/yaml/known-yaml.ts';
import { readYaml } from '../packages/runtime/src/config/bundle/yaml/read-yaml.ts';
import {
  agentRunner,
  connectorRunner,
  guardianRunner,
  keeperRunner,
} from '../packages/runtime/src/ports/runner-path.ts';
import { compiledName } from './compiled-name.ts';

const repository = join(import.meta.dir, '..');
const distFolder = join(repository, 'packages/runtime/dist');

let fresh: string;
beforeAll(() => {
  fresh = join(mkdtempSync(join(tmpdir(), 'build-runners-')), 'dist');
  const { stderr } = Bun.spawnSync([process.execPath, join(import.meta.dir, 'build-runners.ts'), fresh], {
    cwd: repository,
  });
  expect(stderr.toString()).toBe('');
});
afterAll(() => rmSync(dirname(fresh), { recursive: true }));

test('the programs of child processes match the sources', () => {
  const stale = readdirSync(fresh).filter((name) => {
    const built = join(distFolder, name);
    return !existsSync(built) || !readFileSync(built).equals(readFileSync(join(fresh, name)));
  });
  const unknown = existsSync(distFolder)
    ? readdirSync(distFolder).filter((name) => !existsSync(join(fresh, name)))
    : [];
  expect([...stale, ...unknown], 'packages/runtime/dist is missing or stale: run `npm run build`').toEqual([]);
});

test('the orchestrator finds them', () => {
  for (const runner of [agentRunner, connectorRunner, guardianRunner, keeperRunner])
    expect(readdirSync(fresh).map((name) => join(distFolder, name))).toContain(runner);
});

test('an agent loads only its own files at its start: no third party, not even a module of Bun', () => {
  const { own, foreign } = loadedBy('agent-runner.js');
  expect(foreign).toEqual([]);
  // The agent loads its other files later, when it needs them.
  expect(own.length).toBeWithin(1, 4);
});

test('they and the packages of model providers import only packages that npm installs with the runtime', () => {
  const { dependencies } = JSON.parse(readFileSync(join(repository, 'packages/runtime/package.json'), 'utf8'));
  const code = readdirSync(fresh).filter((name) => name.endsWith('.js'));
  const imports = /\b(?:from|import\(|require\()"([^"./][^"]*)"/g;
  const imported = code
    .flatMap((name) => [...readFileSync(join(fresh, name), 'utf8').matchAll(imports)])
    .map(([, path = '']) => path)
    .filter((path) => !/^(node|bun):/.test(path) && !builtinModules.includes(path));
  expect(imported).toContain('zod/v4');
  expect(imported.filter((path) => !Object.hasOwn(dependencies, path.split('/')[0] ?? ''))).toEqual([]);
});

test('the licence of every bundled package is there', () => {
  const licenses = readFileSync(join(fresh, 'licenses.txt'), 'utf8').split('\n');
  const names = ['ajv', 'zod', '@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/provider-utils'];
  for (const name of names) expect(licenses).toContain(name);
});

/** Lists the files that a file requires when it is loaded, including indirect ones. */
function loadedBy(file: string, seen = new Set<string>()): { own: string[]; foreign: string[] } {
  seen.add(file);
  const code = readFileSync(join(fresh, file), 'utf8');
  const required = [...code.matchAll(/(async\(\)=>)?require\("([^"]+)"\)/g)].filter(([, later]) => later === undefined);
  const foreign: string[] = [];
  for (const [, , path = ''] of required) {
    if (!path.startsWith('./')) foreign.push(path);
    else if (!seen.has(path.slice(2))) foreign.push(...loadedBy(path.slice(2), seen).foreign);
  }
  return { own: [...seen], foreign };
}

test('the YAML of the base library is known, with the values that it has', () => {
  const known: KnownYaml = JSON.parse(readFileSync(join(fresh, 'known-yaml.json'), 'utf8'));
  const texts = [...new Bun.Glob('packages/base/*.yaml').scanSync(repository)].map((path) =>
    readFileSync(join(repository, path), 'utf8'),
  );
  expect(texts.length).toBeGreaterThan(2);
  for (const text of [...texts, ...texts.map(compiledName)]) {
    const valuesOf = (documents: readonly SourceDocument[] = []) => documents.map(({ value }) => value);
    expect(valuesOf(findKnownDocuments(known, text, 'a.yaml'))).toEqual(valuesOf(readYaml(text, 'a.yaml').documents));
  }
});

test('none of them contains the code that reads bundles', () => {
  for (const name of readdirSync(fresh).filter((file) => file.endsWith('.js'))) {
    const code = readFileSync(join(fresh, name), 'utf8');
    expect(code).not.toMatch(/(?:require|import)\("(?:yaml|zod)[/"]/);
    // Only code that the agent must not load contains this text.
    expect(code).not.toContain('valueFrom');
  }
});

test('they contain no path of the build machine', () => {
  for (const name of readdirSync(fresh)) {
    expect(readFileSync(join(fresh, name)).includes(repository)).toBe(false);
  }
});
