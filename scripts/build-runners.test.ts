import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentRunner, connectorRunner } from '../packages/runtime/src/orchestrator/runner-path.ts';
import { buildRunners, distFolder } from './build-runners.ts';

let fresh: string;
beforeAll(async () => {
  fresh = mkdtempSync(join(tmpdir(), 'build-runners-'));
  await buildRunners(fresh);
});
afterAll(() => rmSync(fresh, { recursive: true }));

test('what child processes run is what the sources say', () => {
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
  for (const runner of [agentRunner, connectorRunner])
    expect(readdirSync(fresh).map((name) => join(distFolder, name))).toContain(runner);
});

test('an agent that starts loads no third party and none of the modules that take long', () => {
  const code = readFileSync(join(fresh, 'agent-runner.js'), 'utf8');
  const imports = new Bun.Transpiler({ loader: 'js' }).scanImports(code);
  const atStart = imports.filter(({ kind }) => kind !== 'dynamic-import').map(({ path }) => path.replace(/^node:/, ''));
  expect([...new Set(atStart)].toSorted()).toEqual(['fs', 'fs/promises', 'path']);
  const later = imports.filter(({ kind }) => kind === 'dynamic-import').map(({ path }) => path);
  expect(later.filter((path) => isBuiltin(path) || /zod|yaml/.test(path))).toEqual([]);
  expect(later).toContain('ajv');
});

test('neither program knows how bundles are read', () => {
  for (const name of ['agent-runner.js', 'connector-runner.js']) {
    const code = readFileSync(join(fresh, name), 'utf8');
    const imports = new Bun.Transpiler({ loader: 'js' }).scanImports(code).map(({ path }) => path);
    expect(imports.filter((path) => /^(?:yaml|zod)(?:$|\/)/.test(path))).toEqual([]);
    // What only that code says.
    expect(code).not.toContain('valueFrom');
  }
});

test('they hold no path of the machine they were built on', () => {
  for (const name of readdirSync(fresh)) {
    expect(readFileSync(join(fresh, name)).includes(join(import.meta.dir, '..'))).toBe(false);
  }
});
