// `gdn validate`.
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle, tellTale } from '../testing/sample-bundle.ts';

const place = openPlace();

test('a bundle without errors: exit 0', async () => {
  const folder = await place.write('good', { 'goondan.yaml': sampleBundle() });
  expect(await place.run('validate', 'good')).toEqual({
    stdout: `${folder}: 3 resources, no errors.\n`,
    stderr: '',
    exitCode: 0,
  });
  expect(JSON.parse((await place.run('validate', '--bundle', 'good', '--json')).stdout)).toEqual({
    valid: true,
    errors: [],
    warnings: [],
  });
});

test('counts the resources of the bundle, broken ones too, and not those of its packages', async () => {
  const bundle = (name: string) =>
    `apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: ${name} }\nspec: { entry: ./e.ts }\n`;
  const folder = await place.write('own', {
    'goondan.yaml': sampleBundle({ agent: "extensions: [{ kind: Extension, name: one, package: 'many-parts' }]" }),
    'node_modules/many-parts/package.json': '{ "name": "many-parts" }',
    'node_modules/many-parts/goondan.yaml': [bundle('one'), bundle('two'), bundle('three')].join('---\n'),
    'node_modules/many-parts/e.ts': 'export function register() {}\n',
  });
  const { stdout } = await place.run('validate', 'own');
  expect(stdout).toBe(`${folder}: 3 resources, no errors.\n`);
  await place.write('own', { 'more.yaml': bundle('broken').replace('entry: ./e.ts', 'entry: 1') });
  const { stdout: again } = await place.run('validate', 'own');
  expect(again).toEndWith(`${folder}: 4 resources, an error.\n`);
});

test('counts a lone agent with its model as one resource', async () => {
  const spec = '{ model: { provider: scripted, model: m, options: { script: [{ say: hi }] } } }';
  const text = `apiVersion: goondan.ai/v1\nkind: Agent\nmetadata: { name: a }\nspec: ${spec}\n`;
  const folder = await place.write('lone', { 'goondan.yaml': text });
  expect((await place.run('validate', 'lone')).stdout).toBe(`${folder}: 1 resource, no errors.\n`);
});

test('every error with file, line, column, code and suggestion: exit 4', async () => {
  await place.write('bad', {
    'goondan.yaml': sampleBundle({ agent: 'toolz: []', swarm: 'extensions: [Extension/x]' }),
  });
  const { stdout, stderr, exitCode } = await place.run('validate', 'bad');
  const [key, , reference, advice, summary] = stdout.trimEnd().split('\n');
  expect(key).toMatch(/^bad\/goondan\.yaml:\d+:\d+ E_RESOURCE_KEY Agent\/host: .*toolz/);
  expect(reference).toMatch(/^bad\/goondan\.yaml:\d+:\d+ E_REF_MISSING Swarm\/default: .*Extension\/x/);
  expect(advice).toStartWith('    ');
  expect(summary).toEndWith(', 2 errors.');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 4 });
});

test('--json: the same as one object, exit 4', async () => {
  await place.write('bad', { 'goondan.yaml': sampleBundle({ agent: 'toolz: []' }) });
  const { stdout, stderr, exitCode } = await place.run('validate', 'bad', '--json');
  expect(JSON.parse(stdout)).toEqual({
    valid: false,
    errors: [
      {
        code: 'E_RESOURCE_KEY',
        message: expect.stringContaining('toolz'),
        file: 'goondan.yaml',
        line: expect.any(Number),
        column: 3,
        resource: 'Agent/host',
        suggestion: expect.any(String),
      },
    ],
    warnings: [],
  });
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 4 });
});

test('a value missing in the environment is a warning: exit 0', async () => {
  const agent = 'environment: { CITY: { valueFrom: { env: NOBODY_SET_THIS } } }';
  await place.write('bundle', { 'goondan.yaml': sampleBundle({ agent }) });
  const { stdout, exitCode } = await place.run('validate', 'bundle');
  expect(stdout).toMatch(/^bundle\/goondan\.yaml:\d+:\d+ warning E_ENV_MISSING .*NOBODY_SET_THIS/);
  expect(exitCode).toBe(0);
});

test('runs no code of the bundle', async () => {
  const mark = join(place.folder, 'mark');
  await place.write('bundle', { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': tellTale.module(mark) });
  expect((await place.run('validate', 'bundle')).exitCode).toBe(0);
  expect(existsSync(mark)).toBe(false);
  expect(existsSync(place.stateRoot)).toBe(false);
});
