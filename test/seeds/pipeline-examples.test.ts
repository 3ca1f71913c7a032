// Seed 000, the pipeline: its examples behave as described.
import { describe, expect, spyOn, test } from 'bun:test';
import { createUserMessage } from '@goondan/types';
import { scriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import { example, exportsOf, storeWith } from './example.ts';

const weather: NonNullable<ScriptedAgentOptions['tools']>[number] = {
  name: 'weather',
  exports: [
    { name: 'get', description: 'The weather.' },
    { name: 'disabled', description: 'Not any more.' },
  ],
  handlers: { get: () => 'sunny', disabled: () => 'never' },
};
const askWeather = [
  { when: 'weather', call: { tool: 'weather__get', args: { city: 'Seoul' } } },
  { afterTool: 'weather__get', say: 'It is {{result}}.' },
];
const toolNames = (request: { tools: readonly { name: string }[] } | undefined) =>
  request?.tools.map(({ name }) => name);

describe('seed 000', () => {
  test('B-09 §5.2 prints the turn, the steps and the calls, and hides disabled tools', async () => {
    const log = spyOn(console, 'log').mockImplementation(() => undefined);
    const agent = await scriptedAgent({
      tools: [weather],
      script: askWeather,
      extensions: [example('000-5-2-three-kinds')],
    });
    const turn = await agent.say('weather?');
    const printed = log.mock.calls;
    log.mockRestore();
    expect(turn.text).toBe('It is sunny.');
    expect(printed).toEqual([
      ['Turn 시작: 1 messages'],
      ['Calling weather__get with', { city: 'Seoul' }],
      ['weather__get returned', { toolCallId: 'call_1', toolName: 'weather__get', status: 'ok', output: 'sunny' }],
      [expect.stringMatching(/^Step 0 took \d+ms$/)],
      [expect.stringMatching(/^Step 1 took \d+ms$/)],
      ['Turn 종료: undefined'],
    ]);
    expect(agent.requests.map(toolNames)).toEqual([['weather__get'], ['weather__get']]);
  });

  test('B-09 P-05 §6.2 runs B, then A, then C, then the core', async () => {
    const agent = await scriptedAgent({ extensions: [example('000-6-2-priority')] });
    await agent.say('hello');
    expect((await exportsOf('000-6-2-priority')).entered).toEqual(['B', 'A', 'C']);
  });

  test('B-09 §9.1 replaces more than 20 eligible messages by a summary, and leaves pinned ones', async () => {
    const eligible = Array.from({ length: 21 }, (_, number) =>
      createUserMessage(`old ${number}`, { 'compaction.eligible': true }),
    );
    const pinned = createUserMessage('keep me', { 'compaction.eligible': true, pinned: true });
    const plain = createUserMessage('not eligible');
    const store = await storeWith({ messages: [...eligible, pinned, plain] });
    const agent = await scriptedAgent({ store, extensions: [example('000-9-1-compaction')] });
    await agent.say('hello');
    const contents = (await agent.messages()).map(({ data }) => data.content);
    expect(contents).toEqual([
      'keep me',
      'not eligible',
      'hello',
      '21 messages about tea',
      [{ type: 'text', text: 'You said: hello' }],
    ]);
    expect((await agent.messages())[3]).toMatchObject({ metadata: { 'compaction.summary': true } });
    expect(agent.requests[0]?.messages).toHaveLength(4);
  });

  test('B-09 §9.1 leaves 20 eligible messages alone', async () => {
    const messages = Array.from({ length: 20 }, (_, number) =>
      createUserMessage(`old ${number}`, { 'compaction.eligible': true }),
    );
    const store = await storeWith({ messages });
    const agent = await scriptedAgent({ store, extensions: [example('000-9-1-compaction')] });
    await agent.say('hello');
    expect(await agent.messages()).toHaveLength(22);
  });

  test('B-09 §9.2 logs steps with their tools and times, and calls with arguments and status', async () => {
    const agent = await scriptedAgent({
      tools: [weather],
      script: askWeather,
      extensions: [example('000-9-2-logging')],
    });
    await agent.say('weather?');
    expect(agent.logs.map(({ level, message }) => [level, message.replace(/\d+ms/, 'Nms')])).toEqual([
      ['info', '[Step 0] 시작, 도구 2개'],
      ['debug', "[ToolCall] weather__get 호출 { city: 'Seoul' }"],
      ['debug', "[ToolCall] weather__get 완료: Nms { status: 'ok' }"],
      ['info', '[Step 0] 완료: Nms'],
      ['info', '[Step 1] 시작, 도구 2개'],
      ['info', '[Step 1] 완료: Nms'],
    ]);
  });

  test('B-09 §9.3 offers only the tools its state names', async () => {
    const store = await storeWith({ state: { selectedTools: ['weather__get'] } });
    const agent = await scriptedAgent({ store, tools: [weather], extensions: [example('000-9-3-tool-filter')] });
    await agent.say('hello');
    expect(toolNames(agent.requests[0])).toEqual(['weather__get']);
  });

  test('B-09 §9.3 offers all tools while nothing is selected', async () => {
    const agent = await scriptedAgent({ tools: [weather], extensions: [example('000-9-3-tool-filter')] });
    await agent.say('hello');
    expect(toolNames(agent.requests[0])).toEqual(['weather__get', 'weather__disabled']);
  });

  test.each([
    [10_001, 10_000, 1],
    [10_000, 10_000, 0],
    [5, 5, 0],
  ])(
    'B-07 B-09 §9.4 a bash command of %d characters reaches the handler with %d',
    async (length, expected, warnings) => {
      const inputs: unknown[] = [];
      const agent = await scriptedAgent({
        script: [
          { when: 'run', call: { tool: 'bash__exec', args: { command: 'x'.repeat(length), cwd: '/tmp' } } },
          { say: 'done' },
        ],
        tools: [
          {
            name: 'bash',
            exports: [{ name: 'exec', description: 'Runs a command.' }],
            handlers: { exec: (_ctx, input) => void inputs.push(input) },
          },
        ],
        extensions: [example('000-9-4-argument-guard')],
      });
      await agent.say('run it');
      expect(inputs).toEqual([{ command: 'x'.repeat(expected), cwd: '/tmp' }]);
      const warned = agent.logs.filter(({ message }) => message === 'bash command truncated to 10000 chars');
      expect(warned).toHaveLength(warnings);
    },
  );

  test('B-07 B-09 §9.4 leaves other tools alone', async () => {
    const agent = await scriptedAgent({
      script: [
        { when: 'run', call: { tool: 'echo__say', args: { command: 'x'.repeat(20_000) } } },
        { say: '{{result}}' },
      ],
      tools: [
        {
          name: 'echo',
          exports: [{ name: 'say', description: 'Says.' }],
          handlers: { say: (_ctx, { command }) => (typeof command === 'string' ? command.length : -1) },
        },
      ],
      extensions: [example('000-9-4-argument-guard')],
    });
    expect((await agent.say('run it')).text).toBe('20000');
  });

  test('B-08 B-09 §9.5 the runtime retries after a transient model error, with backoff', async () => {
    const { delays } = (await exportsOf('000-9-5-retry')) as { delays: number[] };
    delays.length = 0;
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'overloaded', retryable: true, times: 2 } }, { say: 'at last' }],
      extensions: [example('000-9-5-retry')],
    });
    const turn = await agent.say('hello');
    expect(turn.text).toBe('at last');
    expect(delays).toEqual([1_000, 2_000]);
    expect(agent.told.map(({ name }): string => name).filter((name) => name.startsWith('step.'))).toEqual([
      ...['step.started', 'step.failed', 'step.started', 'step.failed', 'step.started', 'step.completed'],
    ]);
    expect(agent.logs.map(({ message }) => message)).toEqual([
      'Step 재시도 (1/3): overloaded',
      'Step 0 failed and is tried again in 1 ms: overloaded',
      'Step 재시도 (2/3): overloaded',
      'Step 1 failed and is tried again in 2 ms: overloaded',
    ]);
  });

  test('B-08 B-09 §9.5 a lasting error ends the turn after three retries', async () => {
    const { delays } = (await exportsOf('000-9-5-retry')) as { delays: number[] };
    delays.length = 0;
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'overloaded', retryable: true } }],
      extensions: [example('000-9-5-retry')],
    });
    const { result } = await agent.say('hello');
    expect(result.error).toMatchObject({ message: 'overloaded' });
    expect(delays).toEqual([1_000, 2_000, 4_000]);
    expect(agent.requests).toHaveLength(4);
  });

  test('B-08 B-09 §9.5 an error that is not transient is not retried', async () => {
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'wrong key' } }],
      extensions: [example('000-9-5-retry')],
    });
    expect((await agent.say('hello')).result.error).toMatchObject({ message: 'wrong key' });
    expect(agent.requests).toHaveLength(1);
  });

  test('B-09 §9.6 adds the tools of a skill to the catalog and its context to the messages', async () => {
    const agent = await scriptedAgent({ tools: [weather], extensions: [example('000-9-6-skill-injection')] });
    await agent.say('hello');
    expect(toolNames(agent.requests[0])).toEqual(['weather__get', 'weather__disabled', 'tea__brew']);
    expect(agent.requests[0]?.messages).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'system', content: 'Tea is brewed at 80 degrees.' },
    ]);
  });
});
