// Tests tools that are made with the real AI SDK, which only tests import.
import { describe, expect, expectTypeOf, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import { jsonSchema, tool } from 'ai';
import { z } from 'zod';
import { scriptedAgent } from '../../testing/index.ts';
import { toolFile } from '../../tool-file.ts';
import { loadTool, type ToolDeclaration } from './load-tool.ts';
import { ToolRegistry } from './tool-registry.ts';

type Handlers = NonNullable<ToolDeclaration['handlers']>;

async function load(handlers: Handlers): Promise<ToolRegistry> {
  const registry = new ToolRegistry();
  await loadTool({ name: 'dice', exports: [], handlers, entry: './dice.ts' }, registry);
  return registry;
}

/** The answer of an agent that calls `dice__roll` once, and repeats the result or the error. */
async function answerWith(
  roll: Handlers[string],
  args: JsonObject = { sides: 6 },
  toolTimeoutMs = 60_000,
): Promise<string> {
  const agent = await scriptedAgent({
    policy: { toolTimeoutMs },
    script: [
      { when: 'Roll', call: { tool: 'dice__roll', args } },
      { afterTool: 'dice__roll', say: '{{result}}{{result.error.code}} {{result.error.message}}' },
      { say: 'Yes?' },
    ],
    tools: [{ name: 'dice', exports: [], handlers: { roll }, config: { loaded: true } }],
  });
  await agent.say('Hi');
  const { text } = await agent.say('Roll');
  await agent.close();
  return text;
}

const description = 'Rolls a die.';
const inputSchema = z.object({ sides: z.int().max(100), by: z.string().default('Ann') });
const plain = { type: 'object', properties: { sides: { type: 'integer' } }, required: ['sides'] } as const;

describe('a tool of the AI SDK', () => {
  test('is loaded as it is, with its description and schema, and an export name of lower-case letters', async () => {
    const execute = () => 4;
    const registry = await load({
      unreadable: new Proxy({ inputSchema }, { has: () => expect.unreachable() }),
      rollHTMLDice: tool({ description, inputSchema, execute }),
      coin: {
        ...tool({ description, inputSchema: () => jsonSchema(Promise.resolve(plain)), execute, needsApproval: false }),
        ...{ name: 'flip', effects: 'none' },
      },
    });
    expect(registry.items()).toMatchObject([
      {
        name: 'dice__roll_html_dice',
        description,
        parameters: { properties: { sides: { maximum: 100 } }, required: ['sides'] },
        annotations: { effects: 'external' },
      },
      { name: 'dice__flip', parameters: plain, annotations: { effects: 'none' } },
    ]);
  });

  test('gets its checked arguments, the call, the messages before it, the config and a signal', async () => {
    const seen: unknown[] = [];
    const said = await answerWith(
      tool({
        description,
        inputSchema,
        execute: ({ sides, by }, { toolCallId, messages, abortSignal, ...others }) => {
          expectTypeOf(sides).toEqualTypeOf<number>();
          seen.push(toolCallId.length > 0, messages, abortSignal?.aborted, others);
          return `${by} rolled ${sides}.`;
        },
      }),
    );
    expect(said).toStartWith('Ann rolled 6.');
    expect(seen).toEqual([
      true,
      [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'text', text: 'Yes?' }] },
        { role: 'user', content: 'Roll' },
      ],
      false,
      { context: { loaded: true }, experimental_context: { loaded: true } },
    ]);
  });

  const content = [
    { type: 'text', text: 'four' },
    { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: new ArrayBuffer(1) } },
    { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: '4.' } },
    { type: 'file-data', mediaType: 'text/plain', data: 'NC4u' },
    { type: 'image-url', url: 'https://example.com/4' },
    { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/4') } },
  ];
  const shown = 'four\n[file text/plain, 1 B]\n[file text/plain, 2 B]\n[file text/plain, 3 B]\n[image]\n[image]';
  const generate = async function* () {
    yield 'rolling';
    yield 'four';
  };
  const four = ({ output, input }: { output: number; input: { sides: number } }) => `${output} of ${input.sides}`;
  const functions = {
    inputSchema: jsonSchema(plain),
    execute(this: { dice: number }, _: unknown, { messages }: { messages: unknown[] }) {
      return `${this.dice} dice, ${messages.length} messages`;
    },
    toModelOutput(this: { dice: number }, { output, toolCallId }: { output: string; toolCallId: string }) {
      return { type: 'text', value: `${output}, ${this.dice === 2 && toolCallId.length > 0}` };
    },
  };
  test.each<[string, object, string]>([
    ['a promise', { execute: async () => 'four' }, 'four'],
    ['null for a value that is no JSON', { execute: () => () => 4 }, 'null'],
    ['a date as JSON', { execute: () => ({ at: new Date(4) }) }, '{"at":"1970-01-01T00:00:00.004Z"}'],
    ['the last value of a generator', { execute: generate }, 'four'],
    ['toModelOutput', { toModelOutput: (of: never) => ({ type: 'text', value: four(of) }) }, '4 of 6'],
    ['content', { toModelOutput: () => ({ type: 'content', value: content }) }, shown],
    ['a refusal', { toModelOutput: () => ({ type: 'execution-denied' }) }, 'E_TOOL_FAILED execution-denied'],
    ['JSON', { toModelOutput: () => ({ type: 'json', value: null }) }, 'null'],
    ['lost', { toModelOutput: () => ({ type: 'error-json', value: { lost: 4 } }) }, 'E_TOOL_FAILED {"lost":4}'],
    ['a reason', { toModelOutput: () => ({ type: 'execution-denied', reason: 'No.' }) }, 'E_TOOL_FAILED No.'],
    ['no id', { toModelOutput: () => ({ type: 'content', value: [{ type: 'file-id' }] }) }, 'of type "file-id"'],
    ['what its functions find in it', { dice: 2, ...functions }, '2 dice, 3 messages, true'],
    ['an error', { toModelOutput: () => ({ type: 'error-text', value: 'Lost.' }) }, 'E_TOOL_FAILED Lost.'],
  ])('returns %s', async (_title, given, expected) => {
    expect(await answerWith(tool({ description, inputSchema, execute: () => 4, ...given }))).toContain(expected);
  });

  test('is closed after its deadline if it is a generator', async () => {
    const closed = Promise.withResolvers<void>();
    const execute = async function* () {
      try {
        for (;;) yield await Bun.sleep(1);
      } finally {
        closed.resolve();
      }
    };
    expect(await answerWith(tool({ description, inputSchema, execute }), { sides: 6 }, 20)).toContain('E_TOOL_TIMEOUT');
    await closed.promise;
  });

  const even = jsonSchema<{ sides: number }>(plain, {
    // Safe: the arguments fit the JSON Schema.
    validate: (value) =>
      (value as { sides: number }).sides % 2 === 0
        ? { success: true, value: { sides: 2 } }
        : { success: false, error: new Error('an odd number of sides') },
  });
  test.each<[string, JsonObject, string]>([
    ['the JSON Schema', { sides: 'six' }, 'E_TOOL_ARGUMENTS'],
    ['the check of jsonSchema()', { sides: 7 }, 'do not fit: the value: an odd number of sides.'],
    ['nothing, and takes its value', { sides: 8 }, '2'],
  ])('whose arguments are refused by %s', async (_title, args, expected) => {
    expect(await answerWith(tool({ description, inputSchema: even, execute: ({ sides }) => sides }), args)).toContain(
      expected,
    );
  });

  const execute = () => 1;
  test.each<[string, object, string]>([
    ['execute', { description, inputSchema }, 'no function execute'],
    ['a schema', { description, inputSchema: undefined, execute }, 'no inputSchema'],
    ['a description', { inputSchema, execute }, 'no description'],
    ['a fixed description', { description: () => 'Rolls.', inputSchema, execute }, 'a function as its description'],
    ['an approval of Goondan', { description, inputSchema, execute, needsApproval: true }, 'needsApproval'],
  ])('without %s is refused at the start, with file and tool', async (_title, wrong, message) => {
    // The cast imitates code that the type checker did not see.
    const refused = await load({ roll: wrong as Handlers[string] }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_TOOL_LOAD', suggestion: expect.any(String) });
    expect(String(refused)).toContain('Tool/dice: "roll" in "./dice.ts"');
    expect(String(refused)).toContain(message);
  });

  test('is a tool for toolFile', () => {
    const dice = { roll: tool({ description, inputSchema, execute }) };
    expect(toolFile<typeof dice>('file:///bundle/', './dice.ts').metadata.name).toBe('dice');
  });
});
