import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadTool, type ToolDeclaration } from './load-tool.ts';
import { ToolRegistry } from './tool-registry.ts';

const root = await mkdtemp(join(tmpdir(), 'goondan-tools-'));
afterAll(() => rm(root, { recursive: true }));

let files = 0;
/** Writes a module under a unique file name, and returns its path. */
async function moduleOf(source: string): Promise<string> {
  const entry = `tool-${++files}.ts`;
  await Bun.write(join(root, entry), source);
  return entry;
}

const exports = [{ name: 'get', description: 'The weather.' }];

async function load(declaration: Partial<ToolDeclaration>): Promise<ToolRegistry> {
  const registry = new ToolRegistry();
  await loadTool({ name: 'weather', exports, root, ...declaration }, registry);
  return registry;
}

async function refusal(declaration: Partial<ToolDeclaration>): Promise<unknown> {
  return load(declaration).then(
    () => 'it was loaded',
    (error: unknown) => error,
  );
}

describe('a declared tool', () => {
  test('R-05 gives one {resource}__{export} for each export, with the handlers of its module', async () => {
    const entry = await moduleOf(`export const handlers = { get: () => 'sunny', set: () => 'done' };`);
    const registry = await load({
      entry,
      exports: [
        { name: 'get', description: 'The weather.', parameters: { type: 'object' }, parallel: true, effects: 'none' },
        { name: 'set', description: 'Sets it.', idempotent: true },
      ],
      errorMessageLimit: 80,
    });
    expect(registry.get('weather__get')).toMatchObject({
      item: {
        name: 'weather__get',
        description: 'The weather.',
        parameters: { type: 'object' },
        annotations: { effects: 'none', idempotent: false },
      },
      parallel: true,
      idempotent: false,
      effects: 'none',
      errorMessageLimit: 80,
    });
    expect(registry.get('weather__set')).toMatchObject({ parallel: false, idempotent: true, effects: 'external' });
    // The cast is safe: the handlers of this module read neither argument.
    const handler = registry.get('weather__get')?.handler as unknown as () => string;
    expect(handler()).toBe('sunny');
  });

  test('is found from a subfolder and through a link that stays inside', async () => {
    await Bun.write(join(root, 'deep/down/index.ts'), `export const handlers = { get: () => 'deep' };`);
    await symlink(join(root, 'deep'), join(root, 'alias'));
    for (const entry of ['./deep/down/index.ts', 'alias/down/index.ts']) {
      expect((await load({ entry })).get('weather__get')).toBeDefined();
    }
  });

  test('is refused when its file is missing; the error names the file', async () => {
    expect(await refusal({ entry: 'nowhere.ts' })).toMatchObject({
      code: 'E_TOOL_LOAD',
      message: 'Tool/weather: there is no file "nowhere.ts".',
    });
    expect(await refusal({})).toMatchObject({ code: 'E_TOOL_LOAD' });
  });

  test.each<[string, string, string]>([
    ['does not parse', 'export const handlers = {', 'the module cannot be loaded'],
    ['throws', `throw new Error('no weather today');`, 'no weather today'],
    ['exports no handlers', 'export const handler = 1;', 'exports no object named handlers'],
    ['exports handlers that are not an object', `export const handlers = 'get';`, 'exports no object named handlers'],
    ['lacks a handler', 'export const handlers = { set: () => 1 };', 'handlers has no function "get"'],
    ['has a handler that is not a function', 'export const handlers = { get: 7 };', 'handlers has no function "get"'],
  ])('R-05 with a module that %s is refused', async (_title, source, message) => {
    const entry = await moduleOf(source);
    expect(await refusal({ entry })).toMatchObject({
      code: 'E_TOOL_LOAD',
      message: expect.stringMatching(new RegExp(`^Tool/weather: .*${message}`, 's')),
    });
  });

  test('X-07 whose module throws an error with a suggestion keeps it', async () => {
    const entry = await moduleOf(`throw Object.assign(new Error('no key'), { suggestion: 'Set WEATHER_KEY.' });`);
    expect(await refusal({ entry })).toMatchObject({ code: 'E_TOOL_LOAD', suggestion: 'Set WEATHER_KEY.' });
  });

  test('R-05 has no inherited handler: an export named toString needs its own', async () => {
    const entry = await moduleOf('export const handlers = {};');
    const inherited = [{ name: 'toString', description: 'Inherited.' }];
    expect(await refusal({ entry, exports: inherited })).toMatchObject({ code: 'E_TOOL_LOAD' });
  });

  test.each(['../tool.ts', 'deep/../../tool.ts', '/etc/passwd', 'C:\\tool.ts', 'tool\0.ts'])(
    'with the entry %j is refused: it leads out of the bundle',
    async (entry) => {
      expect(await refusal({ entry })).toMatchObject({ code: 'E_PATH_OUTSIDE' });
    },
  );

  test.each([{ max: 'many' }, { other: 1 }])(
    'with a config that does not match its schema is refused before its module runs: %p',
    async (config) => {
      const entry = await moduleOf(`throw new Error('it ran');`);
      const configSchema = { type: 'object', properties: { max: { type: 'integer' } }, additionalProperties: false };
      expect(await refusal({ entry, config, configSchema })).toMatchObject({
        code: 'E_TOOL_CONFIG',
        message: expect.stringContaining('The config of Tool/weather does not fit: '),
      });
    },
  );

  test('with a configSchema that is not a JSON Schema is refused', async () => {
    const refused = await refusal({ handlers: { get: () => 1 }, configSchema: { type: 'nonsense' } });
    expect(refused).toMatchObject({ code: 'E_TOOL_CONFIG' });
  });

  test('R-05 with a bad export name is refused', async () => {
    const bad = [{ name: 'get__now', description: 'Bad.' }];
    expect(await refusal({ exports: bad, handlers: { get__now: () => 1 } })).toMatchObject({ code: 'E_TOOL_NAME' });
  });
});
