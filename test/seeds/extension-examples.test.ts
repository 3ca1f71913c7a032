// Seed 002, the extension system: its examples behave as described.
import { describe, expect, test } from 'bun:test';
import * as core from '@goondan/core';
import * as types from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import { example, exportsOf, storeWith } from './example.ts';

const weather: NonNullable<ScriptedAgentOptions['tools']>[number] = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather.' }],
  handlers: { get: () => 'sunny' },
};
const clock: NonNullable<ScriptedAgentOptions['tools']>[number] = {
  name: 'clock',
  exports: [{ name: 'get', description: 'The time.' }],
  handlers: { get: () => 'noon' },
};
const toolNames = (request: { tools: readonly { name: string }[] } | undefined) =>
  request?.tools.map(({ name }) => name);

describe('seed 002', () => {
  test('B-09 §4.2 times steps, offers a tool that shows its state, and listens to completed turns', async () => {
    const agent = await scriptedAgent({
      store: await storeWith({ state: { seen: 3 } }),
      script: [
        { when: 'status', call: { tool: 'my-ext__status' } },
        { afterTool: 'my-ext__status', say: '{{result.status}}, {{result.state.seen}} seen' },
      ],
      extensions: [example('002-4-2-basic')],
    });
    expect((await agent.say('status?')).text).toBe('ok, 3 seen');
    expect(agent.logs.map(({ message }) => message.replace(/\d+ms/, 'Nms'))).toEqual([
      'Step 0 completed in Nms',
      'Step 1 completed in Nms',
      'Turn completed',
    ]);
  });

  test('B-09 §4.2 imports from @goondan/core, which is @goondan/types', () => {
    expect(core).toEqual(types);
  });

  test('B-09 X-12 §5.4 counts the steps in its state', async () => {
    const agent = await scriptedAgent({ extensions: [example('002-5-4-state')] });
    await agent.say('one');
    await agent.say('two');
    expect(await agent.stateOf('example')).toEqual({ processedSteps: 2, lastStepAt: expect.any(Number) });
  });

  test('B-09 X-15 §5.6 logs on every level', async () => {
    const agent = await scriptedAgent({ extensions: [example('002-5-6-logger')] });
    expect(agent.logs.map(({ level, message }) => [level, message.split('\n')[0]])).toEqual([
      ['info', 'Extension initialized'],
      ['debug', 'Processing step { stepIndex: 3 }'],
      ['warn', 'Approaching token limit'],
      ['error', 'Failed to load state Error: the disk is full'],
    ]);
  });

  test('B-09 X-17 §6.3 its connection is closed with the agent', async () => {
    const { connections } = (await exportsOf('002-6-3-cleanup')) as { connections: { closed: boolean }[] };
    const agent = await scriptedAgent({ extensions: [example('002-6-3-cleanup')] });
    expect(connections).toEqual([expect.objectContaining({ closed: false })]);
    await agent.close();
    expect(connections).toEqual([expect.objectContaining({ closed: true })]);
  });

  test('B-09 §8.1 lists skills, opens one, and refuses to open an unknown one', async () => {
    const agent = await scriptedAgent({
      script: [
        { when: 'list', call: { tool: 'skills__list' } },
        { when: 'open', call: { tool: 'skills__open', args: { name: 'brew-tea' } } },
        { when: 'what', call: { tool: 'skills__open' } },
        { afterTool: 'skills__list', say: '{{result.skills}}' },
        { afterTool: 'skills__open', say: '{{result.content}}{{result.error.code}}{{result.code}}' },
      ],
      extensions: [example('002-8-1-skills')],
    });
    expect((await agent.say('list them')).text).toBe('["brew-tea","bake-bread"]');
    expect((await agent.say('open one')).text).toBe('# How to brew-tea');
    expect((await agent.say('what?')).text).toContain('E_TOOL_ARGUMENTS');
  });

  test('B-09 §8.1 injects the context of the active skill as a message', async () => {
    const store = await storeWith({ state: { activeSkill: 'brew-tea' } });
    const agent = await scriptedAgent({ store, extensions: [example('002-8-1-skills')] });
    await agent.say('hello');
    expect(agent.requests[0]?.messages.at(-1)).toEqual({ role: 'system', content: 'Active skill context: brew-tea' });
    const quiet = await scriptedAgent({ extensions: [example('002-8-1-skills')] });
    await quiet.say('hello');
    expect(quiet.requests[0]?.messages).toHaveLength(1);
  });

  test('B-09 §8.2 the model’s search narrows the catalog of the next step', async () => {
    const agent = await scriptedAgent({
      tools: [weather, clock],
      script: [
        { when: 'sky', call: { tool: 'tool-search__search', args: { query: 'weather' } } },
        { afterTool: 'tool-search__search', call: { tool: 'weather__get' } },
        { afterTool: 'weather__get', say: '{{result}}' },
      ],
      extensions: [example('002-8-2-tool-search')],
    });
    expect((await agent.say('how is the sky?')).text).toBe('sunny');
    expect(agent.requests.map(toolNames)).toEqual([
      ['weather__get', 'clock__get', 'tool-search__search'],
      ['weather__get'],
      ['weather__get'],
    ]);
    expect(await agent.stateOf('example')).toEqual({ selectedTools: ['weather__get'] });
  });

  test('B-09 §8.3 replaces more than 20 eligible messages by a summary', async () => {
    const eligible = Array.from({ length: 25 }, (_, number) =>
      types.createUserMessage(`old ${number}`, { 'compaction.eligible': true, pinned: number < 2 }),
    );
    const agent = await scriptedAgent({
      store: await storeWith({ messages: eligible }),
      extensions: [example('002-8-3-compaction')],
    });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect((await agent.messages()).slice(0, 4).map(({ data }) => data.content)).toEqual([
      'old 0',
      'old 1',
      'hello',
      '23 messages about tea',
    ]);
  });

  test('B-09 §8.4 logs steps and calls', async () => {
    const agent = await scriptedAgent({
      tools: [weather],
      script: [{ when: 'sky', call: { tool: 'weather__get', args: { city: 'Seoul' } } }, { say: 'done' }],
      extensions: [example('002-8-4-logging')],
    });
    await agent.say('how is the sky?');
    expect(agent.logs.map(({ level, message }) => [level, message.replace(/\d+ms/, 'Nms')])).toEqual([
      ['info', '[Step 0] 시작'],
      ['debug', "[Tool] weather__get 호출: { city: 'Seoul' }"],
      ['debug', '[Tool] weather__get 완료: Nms'],
      ['info', '[Step 0] 완료: Nms'],
      ['info', '[Step 1] 시작'],
      ['info', '[Step 1] 완료: Nms'],
    ]);
  });

  test('B-09 §8.4 logs a step that fails, and lets its error through', async () => {
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'overloaded' } }],
      extensions: [example('002-8-4-logging')],
    });
    expect((await agent.say('hello')).result.error).toMatchObject({ code: 'E_MODEL_FAILED', message: 'overloaded' });
    expect(agent.logs.find(({ level }) => level === 'error')?.message).toStartWith('[Step 0] 실패: ');
  });

  test('B-09 X-17 §8.5 offers the tools of an MCP server, calls them, and disconnects at the end', async () => {
    const { asked, connection } = await exportsOf('002-8-5-mcp');
    const agent = await scriptedAgent({
      script: [
        { when: 'issues', call: { tool: 'mcp-github__list_issues', args: { repo: 'goondan' } } },
        { when: 'nothing', call: { tool: 'mcp-github__list_issues' } },
        { afterTool: 'mcp-github__list_issues', say: '{{result}}' },
      ],
      extensions: [example('002-8-5-mcp')],
    });
    expect((await agent.say('which issues?')).text).toBe('{"issues":[1,2]}');
    expect(toolNames(agent.requests[0])).toEqual(['mcp-github__list_issues', 'mcp-github__whoami']);
    expect((await agent.say('nothing?')).text).toContain('E_TOOL_ARGUMENTS');
    expect(asked).toEqual([
      { command: ['npx', '-y', '@modelcontextprotocol/server-github'] },
      { name: 'list_issues', input: { repo: 'goondan' } },
    ]);
    expect(connection).toEqual({ open: true });
    await agent.close();
    expect(connection).toEqual({ open: false });
  });

  test('B-09 several of them work together', async () => {
    const files = ['002-5-4-state', '002-8-2-tool-search', '002-8-4-logging'];
    const renamed = files.map((file, index) => {
      const { resource, ...rest } = example(file);
      return { ...rest, resource: { ...resource, metadata: { name: `example-${index}` } } };
    });
    const agent = await scriptedAgent({
      tools: [weather],
      extensions: [...renamed, extension('empty', () => undefined)],
    });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(agent.layers('step')).toEqual(['example-0/step', 'example-1/step', 'example-2/step']);
  });
});
