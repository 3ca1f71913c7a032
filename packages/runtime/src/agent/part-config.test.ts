import { describe, expect, test } from 'bun:test';
import { GoondanError, type ExtensionModule, type JsonObject, type JsonSchema } from '@goondan/types';
import { extension, scriptedAgent } from '../testing/index.ts';
import type { ExtensionDeclaration } from './extension/load-extension.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: { level: { enum: ['debug', 'info'] }, max: { type: 'integer' } },
  required: ['level'],
  additionalProperties: false,
};

interface Declared {
  readonly config?: JsonObject;
  readonly over?: JsonObject;
  /** The schema that the resource declares. */
  readonly specSchema?: JsonSchema;
  /** The schema that the module exports. It may be any value. */
  readonly moduleSchema?: unknown;
}

/** Starts an agent with one extension. Returns the error, or the config that `register` got. */
async function start({ config = {}, over, specSchema, moduleSchema }: Declared): Promise<unknown> {
  const got: unknown[] = [];
  const declaration = extension('logging', (_api, given) => void got.push(given), { config });
  const { resource } = declaration;
  const whole: ExtensionDeclaration = {
    ...declaration,
    ...(over === undefined ? {} : { config: over }),
    resource: { ...resource, spec: { ...resource.spec, ...(specSchema && { configSchema: specSchema }) } },
    // The module is foreign code, so its schema may be any value.
    module: {
      ...declaration.module,
      ...(moduleSchema !== undefined && { configSchema: moduleSchema }),
    } as ExtensionModule,
  };
  try {
    await scriptedAgent({ extensions: [whole] });
    return got[0];
  } catch (error) {
    expect(got).toEqual([]);
    expect(error).toBeInstanceOf(GoondanError);
    return error;
  }
}

describe("an extension's config", () => {
  test.each([
    ['the resource', { specSchema: schema }],
    ['the module', { moduleSchema: schema }],
  ])('X-05 is passed to register when it matches the schema of %s', async (_title, declared) => {
    expect(await start({ config: { level: 'debug' }, ...declared })).toEqual({ level: 'debug' });
  });

  test.each([
    ['the resource', { specSchema: schema }],
    ['the module', { moduleSchema: schema }],
  ])(
    'X-05 fails the start when it does not match the schema of %s: E_EXT_CONFIG names every problem, and register does not run',
    async (_title, declared) => {
      expect(await start({ config: { level: 'loud', max: 'many', tea: 1 }, ...declared })).toMatchObject({
        code: 'E_EXT_CONFIG',
        message:
          'The config of Extension/logging does not fit: the value must NOT have additional properties ("tea"); ' +
          'the known fields are level, max; ' +
          'level must be equal to one of the allowed values (["debug","info"]); max must be integer.',
      });
    },
  );

  test('with { value: … } instead of a text is refused, with the field and what to write', async () => {
    expect(
      await start({ config: { level: { value: 'debug' } }, specSchema: { properties: { level: { type: 'string' } } } }),
    ).toMatchObject({
      code: 'E_EXT_CONFIG',
      message:
        'The config of Extension/logging does not fit: level must be string; ' +
        'a config does not take { value: … }: write the value itself.',
    });
  });

  test('X-05 is checked against both schemas', async () => {
    const both = { specSchema: { required: ['level'] }, moduleSchema: { required: ['max'] } };
    expect(await start({ config: { level: 'debug' }, ...both })).toMatchObject({ code: 'E_EXT_CONFIG' });
    expect(await start({ config: { max: 1 }, ...both })).toMatchObject({ code: 'E_EXT_CONFIG' });
    expect(await start({ config: { level: 'debug', max: 1 }, ...both })).toEqual({ level: 'debug', max: 1 });
  });

  test('X-05 is checked after merging: the agent’s config may correct or break the resource’s', async () => {
    expect(await start({ config: {}, over: { level: 'info' }, specSchema: schema })).toEqual({ level: 'info' });
    expect(await start({ config: { level: 'info' }, over: { level: 1 }, specSchema: schema })).toMatchObject({
      code: 'E_EXT_CONFIG',
    });
  });

  test('X-05 is an empty object by default, and is checked like any other', async () => {
    expect(await start({})).toEqual({});
    expect(await start({ specSchema: schema })).toMatchObject({ code: 'E_EXT_CONFIG' });
  });

  test.each<[string, unknown]>([
    ['a text', 'nonsense'],
    ['a function', () => true],
    [
      'a class instance, as validation libraries make them',
      new (class Schema {
        type = 'object';
      })(),
    ],
    ['null', null],
    ['no schema', { type: 'nonsense' }],
  ])('X-05 a configSchema that is %s is refused: E_EXT_CONFIG', async (_title, moduleSchema) => {
    const error = await start({ moduleSchema });
    expect(error).toMatchObject({ code: 'E_EXT_CONFIG' });
    expect(String(error)).toContain('Extension/logging');
  });

  test('loses a field that is undefined, as in JSON', async () => {
    // Embedders may pass undefined fields.
    const config = { level: undefined, max: 1 } as unknown as JsonObject;
    expect(await start({ config, over: config })).toEqual({ max: 1 });
  });

  test.each<[string, unknown]>([
    ['since is a Date', { since: new Date(0) }],
    ['onDone is a function', { onDone: () => 1 }],
  ])('X-05 a config in which %s is refused: E_EXT_CONFIG', async (problem, config) => {
    // Types do not check embedders in plain JavaScript.
    for (const declared of [{ config: config as JsonObject }, { over: config as JsonObject }]) {
      const error = await start(declared);
      expect(error).toMatchObject({ code: 'E_EXT_CONFIG' });
      expect(String(error)).toContain(`The config of Extension/logging: ${problem}`);
    }
  });
});
