import { describe, expect, test } from 'bun:test';
import { type JsonObject, type Message, textOf } from '@goondan/types';
import { extension, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';

const openAgent = agentOpener();

const requiring = (config: JsonObject, name = 'required-tools') => baseExtension('required-tools', config, name);

const shop = {
  name: 'shop',
  exports: ['look', 'pay', 'break'].map((name) => ({ name, description: `Can ${name}.` })),
  handlers: {
    look: () => 'three apples',
    pay: () => 'paid',
    break: () => {
      throw new Error('It is broken.');
    },
  },
};

const start = (config: JsonObject, options: ScriptedAgentOptions = {}) =>
  openAgent({ tools: [shop], extensions: [requiring(config)], ...options });

const texts = (messages: readonly Message[]) => messages.map(textOf);
const reminder = 'Before you answer, call each of these tools successfully:';
/** Calls a tool only after a reminder. */
const forgetful = [
  { afterTool: 'shop__look', say: 'Three apples.' },
  { when: '^Before you answer', call: { tool: 'shop__look' } },
  { say: 'Some apples, I guess.' },
];

describe('required-tools', () => {
  test('sends the model back with the names of the missing tools, until they were called', async () => {
    const tested = await start({ tools: ['shop__look'] }, { script: forgetful });
    const turn = await tested.say('What is there?');
    expect([turn.text, turn.stepCount]).toEqual(['Three apples.', 3]);
    expect(turn.result.finishReason).toBe('text_response');
    const [, second] = tested.requests;
    expect(second?.messages).toEqual([
      { role: 'user', content: 'What is there?' },
      { role: 'user', content: `${reminder} shop__look` },
    ]);
  });

  test('a rejected answer is neither streamed nor kept, and the reminder is not kept', async () => {
    const tested = await start({ tools: ['shop__look'] }, { script: forgetful });
    const { deltas } = await tested.say('What is there?');
    expect(deltas.map((delta) => (delta.type === 'text' ? delta.text : delta.type)).join('')).toBe('Three apples.');
    expect(texts(await tested.messages())).toEqual(['What is there?', '', '', 'Three apples.']);
  });

  test('changes nothing when the model called the tools by itself', async () => {
    const script = [{ afterTool: 'shop__look', say: 'Three apples.' }, { call: { tool: 'shop__look' } }];
    const tested = await start({ tools: ['shop__look'] }, { script });
    expect(await tested.say('What is there?')).toMatchObject({ text: 'Three apples.', stepCount: 2 });
    // Each turn has to call the tools again.
    await tested.say('And now?');
    expect(tested.requests).toHaveLength(4);
  });

  test('a failed call does not count', async () => {
    const script = [{ when: 'break', call: { tool: 'shop__break' } }, { say: 'Done.' }];
    const tested = await start({ tools: ['shop__break'], maxReminders: 1 }, { script });
    const { result } = await tested.say('break it');
    expect(result).toMatchObject({
      finishReason: 'error',
      error: {
        code: 'E_REQUIRED_TOOLS',
        extension: 'required-tools',
        message: expect.stringContaining('without a successful call of "shop__break", after a reminder'),
      },
    });
  });

  test.each([
    ['all', ['shop__look', 'shop__pay'], 'shop__pay'],
    ['any', ['shop__look', 'shop__pay'], undefined],
  ] as const)('with require: %s', async (require, tools, missing) => {
    const script = [
      { when: '^Before you answer', call: { tool: 'shop__pay' } },
      { afterTool: 'shop__look', say: 'Done.' },
      { afterTool: 'shop__pay', say: 'Done and paid.' },
      { call: { tool: 'shop__look' } },
    ];
    const tested = await start({ tools: [...tools], require }, { script });
    const { text } = await tested.say('buy');
    const asked = tested.requests.flatMap(({ messages }) => messages.map(({ content }) => content));
    expect(text).toBe(missing === undefined ? 'Done.' : 'Done and paid.');
    expect(asked.includes(`${reminder} ${missing}`)).toBe(missing !== undefined);
    // Calls before the removed answer stay in the history.
    const roles = (await tested.messages()).map(({ data }) => data.role).join(' ');
    const call = 'assistant tool';
    expect(roles).toBe(missing === undefined ? `user ${call} assistant` : `user ${call} ${call} assistant`);
  });

  test('with require: any, a tool that the agent does not have matters only if it has none of them', async () => {
    const tools = ['shop__sell', 'shop__look'];
    const tested = await start({ tools, require: 'any' }, { script: forgetful });
    expect(await tested.say('What is there?')).toMatchObject({ text: 'Three apples.', stepCount: 3 });
    const lost = await start({ tools: ['shop__sell', 'shop__rent'], require: 'any' }, { script: forgetful });
    const { result } = await lost.say('What is there?');
    expect(result.error?.message).toBe('The agent has no tool "shop__sell", "shop__rent", which the turn requires.');
  });

  test('a tool that is hidden in this step, or was registered in this turn, is a tool of the agent', async () => {
    const hiding = extension('hiding', ({ pipeline }) =>
      pipeline.register('step', (ctx) => {
        if (ctx.stepIndex === 0) ctx.toolCatalog = ctx.toolCatalog.filter(({ name }) => name !== 'shop__look');
        return ctx.next();
      }),
    );
    const required = requiring({ tools: ['shop__look', 'shop__look'] });
    const hidden = await openAgent({ tools: [shop], extensions: [hiding, required], script: forgetful });
    expect(await hidden.say('What is there?')).toMatchObject({ text: 'Three apples.', stepCount: 3 });
    expect(hidden.requests[1]?.messages.at(-1)?.content).toBe(`${reminder} shop__look`);
    const adding = extension('adding', ({ pipeline, tools }) =>
      pipeline.register('turn', (ctx) => {
        // The view is made when it is read first, so it does not have the tool.
        expect(ctx.runtime.tools).toEqual([]);
        tools.register({ name: 'shop__look', description: 'Can look.' }, () => 'three apples');
        return ctx.next();
      }),
    );
    const added = await openAgent({ extensions: [adding, required], script: forgetful });
    expect(await added.say('What is there?')).toMatchObject({ text: 'Three apples.', stepCount: 3 });
  });

  test('uses errorMessage for the reminder, and adds the names', async () => {
    const config = { tools: ['shop__look', 'shop__pay'], errorMessage: 'Not yet! Use', maxReminders: 1 };
    const tested = await start(config, { script: [{ say: 'No.' }] });
    await tested.say('buy');
    expect(tested.requests.at(-1)?.messages.at(-1)).toEqual({
      role: 'user',
      content: 'Not yet! Use shop__look, shop__pay',
    });
  });

  test.each([
    [{}, 3],
    [{ maxReminders: 0 }, 1],
    [{ maxReminders: 4 }, 5],
  ])('with %j the turn fails after %i model calls', async (more, calls) => {
    const tested = await start({ tools: ['shop__look'], ...more }, { script: [{ say: 'No.' }] });
    const { result } = await tested.say('look');
    expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_REQUIRED_TOOLS' } });
    expect(tested.requests).toHaveLength(calls);
    expect(texts(await tested.messages())).toEqual(['look']);
    // The next turn starts to count again.
    await tested.say('look');
    expect(tested.requests).toHaveLength(2 * calls);
  });

  test('with whenMissing: answer the last answer counts, and the log warns', async () => {
    const tested = await start({ tools: ['shop__look'], whenMissing: 'answer' }, { script: [{ say: 'No.' }] });
    expect(await tested.say('look')).toMatchObject({ text: 'No.', result: { finishReason: 'text_response' } });
    expect(texts(await tested.messages())).toEqual(['look', 'No.']);
    expect(tested.logs).toMatchObject([{ level: 'warn', extension: 'required-tools' }]);
  });

  test('fails at once for a tool that the agent does not have', async () => {
    const tested = await start({ tools: ['shop__look', 'shop__sell'] }, { script: [{ say: 'No.' }] });
    const { result } = await tested.say('look');
    expect(result.error).toMatchObject({
      code: 'E_REQUIRED_TOOLS',
      message: 'The agent has no tool "shop__sell", which the turn requires.',
      suggestion: expect.stringContaining('Correct `tools` in the config of Extension/required-tools'),
    });
    expect(tested.requests).toHaveLength(1);
  });

  test('a step that a layer inside reports as failed keeps its answer', async () => {
    const failing = extension('failing', ({ pipeline }) =>
      pipeline.register('step', async (ctx) => ({ ...(await ctx.next()), status: 'failed' })),
    );
    const extensions = [requiring({ tools: ['shop__look'] }), failing];
    const tested = await openAgent({ tools: [shop], extensions, script: forgetful });
    await tested.say('What is there?');
    expect(texts(await tested.messages())).toEqual(['What is there?', 'Some apples, I guess.']);
  });

  test('two of them, each under its own name, count for themselves', async () => {
    const extensions = [
      requiring({ tools: ['shop__look'], maxReminders: 1 }, 'look-first'),
      requiring({ tools: ['shop__pay'], maxReminders: 1 }, 'pay-first'),
    ];
    const script = [
      { afterTool: 'shop__look', say: 'Done.' },
      { afterTool: 'shop__pay', say: 'Done.' },
      { when: 'shop__look$', call: { tool: 'shop__look' } },
      { when: 'shop__pay$', call: { tool: 'shop__pay' } },
      { say: 'Done.' },
    ];
    const tested = await openAgent({ tools: [shop], extensions, script });
    expect(await tested.say('buy')).toMatchObject({ text: 'Done.', result: { finishReason: 'text_response' } });
  });
});
