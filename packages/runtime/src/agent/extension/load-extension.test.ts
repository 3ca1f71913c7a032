import { afterAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError, type ExtensionResource, type JsonObject } from '@goondan/types';
import { extension, extensionFile, scriptedAgent } from '../../testing/index.ts';
import type { ExtensionDeclaration } from './load-extension.ts';

const folder = await mkdtemp(join(tmpdir(), 'goondan-extensions-'));
/** The bundle's folder; its parent folder is outside of the bundle. */
const root = join(folder, 'bundle');
const elsewhere = join(folder, 'elsewhere');
await mkdir(root);
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
/** Writes a module under a unique file name, and returns its path. */
async function moduleOf(source: string, ending = 'ts'): Promise<string> {
  const entry = `./extension-${++files}.${ending}`;
  await Bun.write(join(root, entry), source);
  return entry;
}

async function refusal(declaration: ExtensionDeclaration): Promise<GoondanError> {
  const thrown: unknown = await scriptedAgent({ extensions: [declaration] }).then(
    () => 'it was loaded',
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(GoondanError);
  const error = thrown as GoondanError;
  expect(error.suggestion.length).toBeGreaterThan(10);
  return error;
}

/** Declares the extension `logging`, with its module in a file of the temporary bundle. */
const file = (entry: string, config?: JsonObject) => extensionFile('logging', root, entry, config);

/** Declares the same extension with a changed resource. */
function withResource(change: Partial<ExtensionResource>, entry = './index.ts'): ExtensionDeclaration {
  const declaration = file(entry);
  return { ...declaration, resource: { ...declaration.resource, ...change } };
}

describe('an extension module', () => {
  test('X-01 exports a named register that gets api, config, its own name and its position', async () => {
    const entry = await moduleOf(`
      export function register(api: any, config: any, identity: any): void {
        api.logger.info(Object.keys(api).join() + ' ' + JSON.stringify(config) + ' ' + JSON.stringify(identity));
      }`);
    const agent = await scriptedAgent({ extensions: [file(entry, { level: 'debug' })] });
    expect(agent.logs[0]?.message).toBe(
      'pipeline,tools,state,events,logger {"level":"debug"} {"name":"logging","position":0}',
    );
  });

  test.each([
    ['sync', `export function register(api) { api.logger.info('here'); }`],
    ['async', `export async function register(api) { await Bun.sleep(1); api.logger.info('here'); }`],
    ['a constant', `export const register = (api) => api.logger.info('here');`],
  ])('X-01 register may be %s; it is awaited', async (_title, source) => {
    const agent = await scriptedAgent({ extensions: [file(await moduleOf(source, 'js'))] });
    expect(agent.logs.map(({ message }) => message)).toEqual(['here']);
  });

  test.each(['@goondan/types', '@goondan/core'])('may import from %s', async (name) => {
    // Links `node_modules`, so that packages can be resolved as from a real bundle.
    await symlink(join(import.meta.dir, '../../../../../node_modules'), join(root, 'node_modules')).catch(
      () => undefined,
    );
    const entry = await moduleOf(`
      import { createSystemMessage, type ExtensionApi } from '${name}';
      export function register(api: ExtensionApi): void {
        api.pipeline.register('turn', (ctx) => {
          ctx.emitMessageEvent({ type: 'append', message: createSystemMessage('from ${name}') });
          return ctx.next();
        });
      }`);
    const agent = await scriptedAgent({ extensions: [file(entry)] });
    await agent.say('hello');
    expect((await agent.messages()).map(({ data }) => data.content)).toContain(`from ${name}`);
  });

  test('the config is a copy: changing it changes no resource', async () => {
    const entry = await moduleOf(`export function register(api, config) { config.list.push('changed'); }`, 'js');
    const config = { list: ['kept'] };
    await scriptedAgent({ extensions: [file(entry, config)] });
    expect(config).toEqual({ list: ['kept'] });
  });

  test("the agent's config is merged over the resource's, and the place of the sidecar is added", async () => {
    const entry = await moduleOf(`export const register = (api, config) => api.logger.info(JSON.stringify(config));`);
    const declaration = file(entry, { level: 'info', to: { file: 'a', max: 1 }, tags: ['x', 'y'] });
    const config = { level: 'debug', to: { max: 2 }, tags: ['z'] };
    const agent = await scriptedAgent({
      extensions: [{ ...declaration, config, keeper: { entry: './k.ts', socket: '/a' } }],
    });
    const keeper = ',"keeper":{"socket":"/a"}';
    expect(agent.logs[0]?.message).toBe(`{"level":"debug","to":{"file":"a","max":2},"tags":["z"]${keeper}}`);
  });
});

describe('X-07 an extension that cannot be loaded gets an error with a suggestion', () => {
  test.each([
    ['throws', `throw new Error('no weather today');`],
    ['rejects', `return Promise.reject(new Error('no weather today'));`],
    ['throws a text', `throw 'no weather today';`],
  ])('X-03 because its register %s: E_EXT_INIT names extension, file and reason', async (_title, body) => {
    const entry = await moduleOf(`export function register() { ${body} }`, 'js');
    const error = await refusal(file(entry));
    expect([error.code, error.message]).toEqual([
      'E_EXT_INIT',
      `Extension/logging ("${entry}"): register failed: no weather today`,
    ]);
    expect(String(error.cause)).toContain('no weather today');
  });

  test('X-03 because its register throws an object that cannot be read: E_EXT_INIT names extension and file', async () => {
    const traps = `new Proxy({}, { get: no, has: no, ownKeys: no, getPrototypeOf: no })`;
    const entry = await moduleOf(
      `const no = () => { throw 1 }; export const register = () => { throw ${traps}; };`,
      'js',
    );
    const { code, message } = await refusal(file(entry));
    expect([code, message]).toEqual([
      'E_EXT_INIT',
      `Extension/logging ("${entry}"): register failed: a thrown object that cannot be shown`,
    ]);
  });

  test('an error with its own code keeps it in the message', async () => {
    const entry = await moduleOf(`export const register = (api) => api.pipeline.register('mutate', () => 1);`, 'js');
    expect((await refusal(file(entry))).message).toMatch(/register failed: .*kinds are turn.* \(E_PIPELINE_KIND\)$/);
  });

  test.each([
    ['register', (error: string) => `export function register() { ${error} }`],
    ['its module', (error: string) => error],
  ])('X-07 because %s throws an error with a suggestion: the suggestion is kept', async (_title, source) => {
    const thrown = `throw Object.assign(new Error('no key'), { code: 'E_MINE', suggestion: 'Set WEATHER_KEY.' });`;
    expect((await refusal(file(await moduleOf(source(thrown), 'js')))).suggestion).toBe('Set WEATHER_KEY.');
  });

  test('an error about the extension keeps its code', async () => {
    const register = () => {
      throw new GoondanError('E_EXT_CONFIG', 'level must be debug or info.');
    };
    expect(await refusal(extension('logging', register))).toMatchObject({
      code: 'E_EXT_CONFIG',
      message: 'level must be debug or info.',
    });
  });

  test.each([
    ['exports no register', `export const registers = 1;`],
    ['exports a register that is not a function', `export const register = 'me';`],
    ['exports it as default only', `export default function register() {}`],
    ['is empty', ''],
  ])('X-04 because its module %s: E_EXT_LOAD', async (_title, source) => {
    const entry = await moduleOf(source, 'js');
    expect(await refusal(file(entry))).toMatchObject({
      code: 'E_EXT_LOAD',
      message: `Extension/logging: "${entry}" exports no function named register.`,
      suggestion: 'Write `export function register(api, config) { … }`.',
    });
  });

  test('X-04 because there is no such file: E_EXT_LOAD', async () => {
    expect(await refusal(file('./nowhere.ts'))).toMatchObject({
      code: 'E_EXT_LOAD',
      message: 'Extension/logging: there is no file "./nowhere.ts".',
    });
    expect(await refusal(extensionFile('logging', join(root, 'nowhere'), './index.ts'))).toMatchObject({
      code: 'E_EXT_LOAD',
    });
  });

  test.each([
    ['does not parse', `export function register( {`, 'cannot be loaded'],
    ['throws', `throw new Error('not today');`, 'cannot be loaded: not today'],
    ['imports a missing package', `import 'nothing-of-that-name';`, 'nothing-of-that-name'],
    ['is a folder', undefined, 'cannot be loaded'],
  ])('X-04 because its module %s: E_EXT_LOAD', async (_title, source, reason) => {
    const entry = source === undefined ? '.' : await moduleOf(source, 'js');
    const error = await refusal(file(entry));
    expect(error.code).toBe('E_EXT_LOAD');
    expect(error.message).toStartWith(`Extension/logging: "${entry}" cannot be loaded: `);
    expect(error.message).toContain(reason);
    expect(error.cause).toBeDefined();
  });

  test.each(['../outside.ts', '/etc/passwd', 'index\0.ts'])(
    'X-16 because its entry is %j: E_PATH_OUTSIDE',
    async (entry) => {
      const error = await refusal(file(entry));
      expect(error.code).toBe('E_PATH_OUTSIDE');
      expect(error.message).toContain('Extension/logging');
    },
  );

  test('X-16 because its entry is a link out of the bundle: E_PATH_OUTSIDE, and it never ran', async () => {
    await Bun.write(join(elsewhere, 'index.ts'), `globalThis.ranOutside = true; export function register() {}`);
    await symlink(join(elsewhere, 'index.ts'), join(root, 'link.ts'));
    expect(await refusal(file('./link.ts'))).toMatchObject({ code: 'E_PATH_OUTSIDE' });
    expect(Reflect.has(globalThis, 'ranOutside')).toBe(false);
  });

  test('X-06 because it declares another apiVersion: E_EXT_COMPAT, before its code is loaded', async () => {
    const entry = await moduleOf(`globalThis.ranTooEarly = true; export function register() {}`);
    expect(await refusal(withResource({ apiVersion: 'goondan.ai/v2' }, entry))).toMatchObject({
      code: 'E_EXT_COMPAT',
      message: 'Extension/logging declares apiVersion "goondan.ai/v2"; this runtime speaks goondan.ai/v1.',
    });
    expect(Reflect.has(globalThis, 'ranTooEarly')).toBe(false);
  });

  test('X-16 because its resource has a runtime field: E_EXT_COMPAT with a hint', async () => {
    // The cast is needed because only older resources have this field.
    const spec = { entry: './index.ts', runtime: 'node' } as ExtensionResource['spec'];
    expect(await refusal(withResource({ spec }))).toMatchObject({
      code: 'E_EXT_COMPAT',
      suggestion: 'Remove the field: extensions always run on Bun.',
    });
  });
});
