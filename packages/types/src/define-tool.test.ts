import { expect, expectTypeOf, test } from 'bun:test';
import { z } from 'zod';
import { defineTool, isDefinedTool, type StandardParameters } from './define-tool.ts';
import type { JsonObject } from './json.ts';
import type { ToolContext } from './tool.ts';

test('the types of a Standard Schema flow into run, with defaults and transformations', () => {
  defineTool({
    description: 'Rolls.',
    parameters: z.object({
      sides: z.int(),
      count: z.int().default(1),
      on: z.string().transform((day) => new Date(day)),
    }),
    run: (ctx, input) => {
      expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
      expectTypeOf(input).toEqualTypeOf<{ sides: number; count: number; on: Date }>();
      // @ts-expect-error There is no such argument.
      return input.eyes;
    },
  });
  expect.assertions(0);
});

test('arguments of a plain JSON Schema are JSON, or of the type that is named', () => {
  const parameters = { type: 'object', properties: { sides: { type: 'integer' } }, required: ['sides'] };
  const json = defineTool({
    description: 'Rolls.',
    parameters,
    run: (_ctx, input) => {
      expectTypeOf(input).toEqualTypeOf<JsonObject>();
      return null;
    },
  });
  const typed = defineTool<{ sides: number }>({ description: 'Rolls.', parameters, run: (_ctx, { sides }) => sides });
  expect([json.parameters, typed.parameters]).toEqual([parameters, parameters]);
});

test('a schema of something else than an object, and a result that is not JSON, do not compile', () => {
  // @ts-expect-error Arguments are an object.
  defineTool({ description: 'Rolls.', parameters: z.string(), run: () => null });
  // @ts-expect-error A function is not JSON.
  defineTool({ description: 'Rolls.', run: () => () => 1 });
  // @ts-expect-error The model needs a description.
  defineTool({ run: () => 1 });
  expect.assertions(0);
});

test('schemas of other libraries fit by the standard alone', () => {
  // ArkType's schemas have this form: a function with the property `~standard`.
  const schema: StandardParameters<{ zone: string }> = Object.assign(() => null, {
    '~standard': { version: 1 as const, vendor: 'other', jsonSchema: { input: () => ({ type: 'object' }) } },
  });
  const tool = defineTool({ description: 'The time.', parameters: schema, run: (_ctx, { zone }) => zone });
  expect(tool.parameters).toBe(schema);
});

test('a defined tool is known to another copy of the package, and nothing else is one', async () => {
  const tool = defineTool({ description: 'Rolls.', run: () => 4 });
  const copy: typeof import('./define-tool.ts') = await import(`${import.meta.dir}/define-tool.ts?copy`);
  expect(copy.isDefinedTool).not.toBe(isDefinedTool);
  expect([isDefinedTool(tool), copy.isDefinedTool(tool)]).toEqual([true, true]);
  const others = [
    undefined,
    null,
    1,
    () => 4,
    {},
    { ...tool, run: undefined },
    { description: 'Rolls.', run: () => 4 },
  ];
  expect(others.map(isDefinedTool)).toEqual([false, false, false, false, false, true, false]);
});
