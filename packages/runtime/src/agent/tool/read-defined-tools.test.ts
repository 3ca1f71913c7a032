import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DefinedTool, defineTool, type ToolContext } from '@goondan/types';
import { z } from 'zod';
import { scriptedAgent } from '../../testing/index.ts';
import { loadTool, type ToolDeclaration } from './load-tool.ts';
import { ToolRegistry } from './tool-registry.ts';

const root = await mkdtemp(join(tmpdir(), 'goondan-defined-tools-'));
afterAll(() => rm(root, { recursive: true }));

async function load(declaration: Partial<ToolDeclaration>): Promise<ToolRegistry> {
  const registry = new ToolRegistry();
  await loadTool({ name: 'dice', exports: [], ...declaration }, registry);
  return registry;
}

function refusal(declaration: Partial<ToolDeclaration>): Promise<unknown> {
  return load(declaration).then(
    () => 'it was loaded',
    (error: unknown) => error,
  );
}

const one = (tool: DefinedTool<object>) => ({ handlers: { roll: tool } });

describe('tools of defineTool', () => {
  test('are the same as declared ones', async () => {
    const parameters = {
      type: 'object',
      properties: { sides: { type: 'integer', minimum: 2, maximum: 100 } },
      required: ['sides'],
    };
    const about = { description: 'Rolls.', parallel: true, idempotent: true, effects: 'none' as const };
    const declared = await load({ exports: [{ name: 'roll', parameters, ...about }], handlers: { roll: () => 1 } });
    const schema = z.object({ sides: z.int().min(2).max(100) });
    for (const given of [schema, parameters]) {
      const defined = await load(one(defineTool({ ...about, parameters: given, run: () => 1 })));
      const { handler: _one, ...expected } = declared.get('dice__roll') ?? {};
      const { handler: _other, ...found } = defined.get('dice__roll') ?? {};
      expect(found).toEqual(expected);
    }
    const [bare, bareDeclared] = [
      await load(one(defineTool({ description: 'Rolls.', run: () => 1 }))),
      await load({ exports: [{ name: 'roll', description: 'Rolls.' }], handlers: { roll: () => 1 } }),
    ];
    expect({ ...bare.get('dice__roll'), handler: 0 }).toEqual({ ...bareDeclared.get('dice__roll'), handler: 0 });
  });

  test('are all exports made by defineTool, under their own name if they have one', async () => {
    await Bun.write(
      join(root, 'dice.ts'),
      `import { defineTool } from ${JSON.stringify(join(import.meta.dir, '../../../../types/src/index.ts'))};
       export const roll = defineTool({ description: 'Rolls.', run: () => 4 });
       export const flipCoin = defineTool({ name: 'flip_coin', description: 'Flips.', run: () => 'heads' });
       export default defineTool({ name: 'draw', description: 'Draws.', run: () => 'the queen' });
       export const SIDES = 6, helper = () => 1, unmarked = { description: 'No tool.', run: () => 1 };`,
    );
    const names = (await load({ root, entry: './dice.ts' })).items().map(({ name }) => name);
    expect(names.toSorted()).toEqual(['dice__draw', 'dice__flip_coin', 'dice__roll']);
  });

  test('are read once if a module also exports them as default, in either order', async () => {
    const roll = defineTool({ description: 'Rolls.', run: () => 4 });
    for (const handlers of [
      { default: roll, roll },
      { roll, default: roll },
    ]) {
      expect((await load({ handlers })).items().map(({ name }) => name)).toEqual(['dice__roll']);
    }
    const draw = defineTool({ name: 'draw', description: 'Draws.', run: () => 'the queen' });
    const registry = await load({ handlers: { default: draw, drawCard: draw } });
    expect(registry.items().map(({ name }) => name)).toEqual(['dice__draw']);
  });

  test('call the check of a schema as a method', async () => {
    const standard = {
      version: 1,
      vendor: 'classy',
      sides: 6,
      validate() {
        return { value: { sides: this.sides } };
      },
      jsonSchema: { input: () => ({ type: 'object' }) },
    };
    // The cast is safe: the schema has all fields that the loader reads.
    const parameters = { '~standard': standard } as never;
    const registry = await load(
      one(defineTool({ description: 'Rolls.', parameters, run: (_ctx, input) => ({ ...input }) })),
    );
    expect(await registry.get('dice__roll')?.handler({} as ToolContext, {})).toEqual({ sides: 6 });
  });

  test('run with the output of the schema', async () => {
    const parameters = z.object({ on: z.string().transform((day) => new Date(day)), count: z.int().default(2) });
    const seen: unknown[] = [];
    const registry = await load(
      one(defineTool({ description: 'Rolls.', parameters, run: (_ctx, input) => void seen.push(input) })),
    );
    // The cast is safe: the handler reads only the arguments.
    await registry.get('dice__roll')?.handler({} as ToolContext, { on: '2026-01-02' });
    expect(seen).toEqual([{ on: new Date('2026-01-02'), count: 2 }]);
  });

  test('refuse arguments with the error of declared tools, also in checks that only the schema has', async () => {
    const even = z
      .int()
      .max(100)
      .refine((sides) => sides % 2 === 0, 'must be even');
    const parameters = z.object({ sides: even });
    const schema = { type: 'object', properties: { sides: { type: 'integer', maximum: 100 } }, required: ['sides'] };
    const say = async (tool: ToolDeclaration, sides: number | string) => {
      const agent = await scriptedAgent({
        script: [
          { when: 'roll', call: { tool: 'dice__roll', args: { sides } } },
          {
            afterTool: 'dice__roll',
            say: '{{result.error.code}} {{result.error.message}} {{result.error.suggestion}}',
          },
        ],
        tools: [tool],
      });
      const { text } = await agent.say('roll');
      await agent.close();
      return text;
    };
    const handler = () => 'it ran';
    const defined = {
      name: 'dice',
      exports: [],
      ...one(defineTool({ description: 'Rolls.', parameters, run: handler })),
    };
    const exports = [{ name: 'roll', description: 'Rolls.', parameters: schema }];
    const declared = { name: 'dice', exports, handlers: { roll: handler } };
    for (const sides of [1000, 'six', 2.5]) expect(await say(defined, sides)).toBe(await say(declared, sides));
    expect(await say(defined, 1000)).toStartWith(
      'E_TOOL_ARGUMENTS The arguments of "dice__roll" do not fit: sides must',
    );
    expect(await say(defined, 7)).toStartWith(
      'E_TOOL_ARGUMENTS The arguments of "dice__roll" do not fit: sides: must be even.',
    );
  });

  test('name the place of a problem, whichever form of the standard the library uses', async () => {
    const issues = [{ message: 'is odd', path: [{ key: 'dice' }, 0, { key: 'sides' }] }, { message: 'is late' }];
    const standard = { version: 1, vendor: 'other', jsonSchema: { input: () => ({}) }, validate: () => ({ issues }) };
    const parameters = { '~standard': standard } as const;
    const registry = await load(
      one(defineTool({ description: 'Rolls.', parameters: parameters as never, run: () => 1 })),
    );
    // The cast is safe: the handler reads only the arguments.
    const refused = Promise.resolve(registry.get('dice__roll')?.handler({} as ToolContext, {}));
    expect(await refused.catch((error: unknown) => error)).toMatchObject({
      code: 'E_TOOL_ARGUMENTS',
      message: 'The arguments of "dice__roll" do not fit: dice.0.sides: is odd; the value: is late.',
    });
  });

  test('may have a schema without a type, such as a union, and with fields that are undefined', async () => {
    const union = z.union([z.object({ sides: z.int() }), z.object({ coin: z.literal(true) })]);
    const plain = { properties: { sides: { type: 'integer', description: undefined } } };
    for (const parameters of [union, plain]) {
      const tool = defineTool({ description: 'Rolls.', parameters: parameters as never, run: () => 1 });
      expect((await load(one(tool))).items()).toHaveLength(1);
    }
  });

  const tuple = z.object({ range: z.tuple([z.int(), z.int()]) });
  test('take tuples, whose form differs between the drafts of JSON Schema', async () => {
    const agent = await scriptedAgent({
      script: [
        { when: 'roll', call: { tool: 'dice__roll', args: { range: [1, 6] } } },
        { afterTool: 'dice__roll', say: '{{result}}' },
      ],
      tools: [
        {
          name: 'dice',
          exports: [],
          ...one(defineTool({ description: 'Rolls.', parameters: tuple, run: (_ctx, { range }) => range[1] })),
        },
      ],
    });
    expect((await agent.say('roll')).text).toBe('6');
    await agent.close();
  });

  const old = { '~standard': { version: 1, vendor: 'older', validate: () => ({ value: {} }) } };
  const throwing = {
    '~standard': { version: 1, vendor: 'odd', jsonSchema: { input: () => JSON.parse('{') as never } },
  };
  test.each<[string, object, string]>([
    ['is not a JSON Schema', { type: 'nonsense' }, 'not a JSON Schema: type must'],
    [
      'is wrong further down',
      { type: 'object', properties: { sides: { type: 'nonsense' } } },
      'properties.sides.type must',
    ],
    ['is not JSON', { type: 'object', default: () => 1 }, 'default is a function'],
    ['is not for an object', z.string(), 'of type "string", but the arguments of a tool are an object'],
    ['has no form in JSON', z.object({ on: z.date() }), 'Date cannot be represented'],
    ['is of a library without JSON Schema', old, 'a schema of older without a JSON Schema'],
    ['throws', throwing, 'JSON'],
  ])('are refused at the start, with file and tool, when the schema %s', async (_title, parameters, message) => {
    // The cast imitates code that the type checker did not see.
    const tool = defineTool({ description: 'Rolls.', parameters: parameters as never, run: () => 1 });
    const refused = await refusal({ ...one(tool), entry: './tools/dice.ts' });
    expect(String(refused)).toContain('"roll" in "./tools/dice.ts"');
    expect(String(refused)).toContain('Tool/dice');
    expect(refused).toMatchObject({ code: 'E_TOOL_SCHEMA', message: expect.stringMatching(new RegExp(message)) });
  });

  /** A tool with another description, run or effects than it should have. */
  const odd = (more: object) => defineTool({ description: 'Rolls.', run: () => 1, ...more });
  test.each<[string, Record<string, unknown>, string, string]>([
    ['has no tool', { roll: () => 1 }, 'E_TOOL_LOAD', 'exports no tool.'],
    ['has a tool without a description', { roll: odd({ description: undefined }) }, 'E_TOOL_LOAD', 'no description'],
    ['has a tool with an empty description', { roll: odd({ description: '' }) }, 'E_TOOL_LOAD', 'no description'],
    ['has a tool without run', { roll: odd({ run: undefined }) }, 'E_TOOL_LOAD', 'no function run'],
    ['has unknown effects', { roll: odd({ effects: 'some' }) }, 'E_TOOL_LOAD', 'unknown effects'],
    ['has a camel-case name', { rollDice: odd({}) }, 'E_TOOL_NAME', 'rollDice'],
    ['has a default without a name', { default: odd({}) }, 'E_TOOL_NAME', ''],
  ])('are refused when the module %s', async (_title, handlers, code, message) => {
    const refused = await refusal({
      handlers: handlers as NonNullable<ToolDeclaration['handlers']>,
      entry: './dice.ts',
    });
    expect(String(refused)).toContain('Tool/dice: ');
    expect(refused).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('are refused beside declared exports, and the error says what to do', async () => {
    const exports = [{ name: 'roll', description: 'Rolls.' }];
    expect(await refusal({ root, entry: './dice.ts', exports })).toMatchObject({
      code: 'E_TOOL_LOAD',
      suggestion: expect.stringContaining('leave `exports` out'),
    });
  });

  test('keep their schema and never run with `instead`', async () => {
    const tool = defineTool({ description: 'Rolls.', parameters: z.object({ sides: z.int() }), run: () => 'it ran' });
    const registry = await load({ ...one(tool), instead: () => 'nobody' });
    const found = registry.get('dice__roll');
    expect(found?.item.parameters).toMatchObject({ required: ['sides'] });
    expect(await found?.handler({} as ToolContext, {})).toBe('nobody');
  });

  test('are read beside an export that throws when it is examined, and name a tool whose getter throws', async () => {
    const tool = defineTool({ description: 'Rolls.', run: () => 4 });
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error('examined');
        },
      },
    );
    // The cast is safe: a module may export anything.
    const handlers = { roll: tool, trap } as unknown as NonNullable<ToolDeclaration['handlers']>;
    expect((await load({ ...one(tool), handlers })).get('dice__roll')).toBeDefined();
    const parameters = {
      get '~standard'(): never {
        throw new Error('no schema');
      },
    };
    const broken = defineTool({ description: 'Rolls.', parameters, run: () => 4 });
    const refused = await refusal({ handlers: { roll: broken }, entry: './dice.ts' });
    expect(String(refused)).toContain('Tool/dice: "roll" in "./dice.ts"');
  });
});
