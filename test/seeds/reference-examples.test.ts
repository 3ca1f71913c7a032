// Seed 004, the extension API reference: its examples behave as described.
import { describe, expect, test } from 'bun:test';
import { createUserMessage } from '@goondan/types';
import { systemClock } from '@goondan/runtime/internal';
import { extension, inProcessEngine, scriptedAgent } from '@goondan/runtime/testing';
import { example, storeWith } from './example.ts';

describe('seed 004', () => {
  test('B-09 the entry module loads and changes nothing', async () => {
    const agent = await scriptedAgent({ extensions: [example('004-entry-module')] });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(agent.agent.extensions).toEqual(['example']);
    expect(agent.logs).toEqual([]);
  });

  test('B-09 §1 logs how long steps take', async () => {
    const agent = await scriptedAgent({ extensions: [example('004-1-pipeline')] });
    await agent.say('hello');
    expect(agent.logs.map(({ message }) => message)).toEqual([expect.stringMatching(/^Step 0: \d+ms$/)]);
  });

  test.each([
    [50, 10],
    [49, 0],
  ])('B-09 §1.1 with %d old messages and the input it removes %d', async (count, removed) => {
    const messages = Array.from({ length: count }, (_, number) => createUserMessage(`old ${number}`));
    const store = await storeWith({ messages });
    const agent = await scriptedAgent({ store, extensions: [example('004-1-1-turn')] });
    await agent.say('hello');
    const kept = await agent.messages();
    expect(kept).toHaveLength(count + 2 - removed);
    expect(kept[0]?.data.content).toBe(`old ${removed}`);
    expect(agent.logs.map(({ message }) => message)).toEqual(['Turn finished: text_response']);
  });

  test('B-09 §1.2 hides dangerous tools and logs the number of calls', async () => {
    const agent = await scriptedAgent({
      tools: [
        {
          name: 'disk',
          exports: [
            { name: 'read', description: 'Reads.' },
            { name: 'dangerous-wipe', description: 'Wipes.' },
          ],
          handlers: { read: () => 'data', 'dangerous-wipe': () => 'gone' },
        },
      ],
      script: [
        { when: 'go', calls: [{ tool: 'disk__read' }, { tool: 'disk__dangerous-wipe' }] },
        { afterTool: 'disk__dangerous-wipe', say: '{{result.code}}{{result.error.code}}' },
      ],
      extensions: [example('004-1-2-step')],
    });
    expect((await agent.say('go')).text).toContain('E_TOOL_NOT_OFFERED');
    expect(agent.requests[0]?.tools.map(({ name }) => name)).toEqual(['disk__read']);
    expect(agent.logs.map(({ message }) => message)).toEqual(['Step 0: 2 tool calls', 'Step 1: 0 tool calls']);
  });

  test('B-09 A-01 A-02 §1.3 asks the retriever before the turn and tells the observer after it', async () => {
    const engine = inProcessEngine(systemClock);
    const retriever = await scriptedAgent({ agentName: 'retriever', script: [{ say: 'Tea is green.' }] });
    const observed: (string | undefined)[] = [];
    engine.add('retriever', async (event) => (await retriever.agent.handle(event)).result);
    engine.add('observer', async (event) => {
      observed.push(event.input);
      return { turnId: 'x', finishReason: 'text_response' };
    });
    const metadata: unknown[] = [];
    const inside = extension('inside', ({ pipeline }) => {
      pipeline.register('step', (ctx) => {
        metadata.push({ ...ctx.metadata });
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ engine, extensions: [example('004-1-3-agents'), inside] });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(metadata).toEqual([{ preloadedContext: 'Tea is green.' }]);
    expect(engine.calls.map(({ to, event }) => [to.agentName, event.input])).toEqual([
      ['retriever', 'Find relevant context for this user input'],
      ['observer', 'turn=turn-event-1 finish=text_response'],
    ]);
    expect(observed).toEqual(['turn=turn-event-1 finish=text_response']);
  });

  test('B-07 B-09 §1.4 cuts long bash commands and logs the status of every call', async () => {
    const agent = await scriptedAgent({
      tools: [
        {
          name: 'bash',
          exports: [{ name: 'exec', description: 'Runs a command.' }],
          handlers: { exec: (_ctx, { command }) => (typeof command === 'string' ? command.length : -1) },
        },
      ],
      script: [
        { when: 'run', call: { tool: 'bash__exec', args: { command: 'x'.repeat(12_000) } } },
        { afterTool: 'bash__exec', say: '{{result}}' },
      ],
      extensions: [example('004-1-4-tool-call')],
    });
    expect((await agent.say('run it')).text).toBe('10000');
    expect(agent.logs.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'bash command truncated to 10000 chars'],
      ['debug', 'bash__exec: ok'],
    ]);
  });

  test('B-09 X-09 §2 offers a tool that shows its state', async () => {
    const agent = await scriptedAgent({
      script: [{ when: 'status', call: { tool: 'my-ext__status' } }, { say: '{{result}}' }],
      extensions: [example('004-2-tools')],
    });
    expect((await agent.say('status?')).text).toBe('{"status":"ok","state":null}');
  });

  test('B-09 X-12 §3 counts the steps in its state, also after a restart', async () => {
    const store = await storeWith({});
    const first = await scriptedAgent({ store, extensions: [example('004-3-state')] });
    await first.say('one', { event: { id: 'a' } });
    const second = await scriptedAgent({ store, extensions: [example('004-3-state')] });
    await second.say('two', { event: { id: 'b' } });
    expect(await second.stateOf('example')).toEqual({ processedSteps: 2, lastStepAt: expect.any(Number) });
  });

  test('B-09 X-13 §4 announces itself to others, listens to turns, and unsubscribes at the end', async () => {
    const heard: unknown[] = [];
    const listener = extension(
      'listener',
      ({ events }) => void events.on('my-ext.initialized', (...args) => heard.push(args)),
    );
    const agent = await scriptedAgent({ extensions: [listener, example('004-4-events')] });
    expect(heard).toEqual([[{ version: '1.0.0' }]]);
    await agent.say('hello');
    expect(agent.logs.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Turn completed \{\s+turnId: 'turn-event-1'/),
    ]);
    await agent.close();
    agent.agent.parts.bus.emit('turn.completed', {});
    expect(agent.logs).toHaveLength(1);
  });

  test('B-09 X-15 §5 logs on every level', async () => {
    const agent = await scriptedAgent({ extensions: [example('004-5-logger')] });
    expect(agent.logs.map(({ level, message }) => [level, message.split('\n')[0]])).toEqual([
      ['info', 'Extension initialized'],
      ['debug', 'Processing step { stepIndex: 3 }'],
      ['warn', 'Approaching token limit'],
      ['error', 'Failed to load state Error: the disk is full'],
    ]);
  });
});
