import { describe, expect, spyOn, test } from 'bun:test';
import type { ToolHandler } from '@goondan/types';
import { extension, manualClock, scriptedAgent } from '../../testing/index.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { defaultPolicy } from '../../config/turn-policy.ts';
import { startAgent } from './start-agent.ts';

const models = {
  'Model/demo': { provider: 'scripted', model: 'demo', options: { script: [{ say: 'You said: {{input}}' }] } },
};

/** Starts an agent with a tool that runs until the test ends it. */
async function busyAgent(cleanup: () => unknown = () => undefined) {
  const clock = manualClock();
  const said: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work: ToolHandler = async () => {
    said.push('working');
    await gate.promise;
  };
  const agent = await scriptedAgent({
    clock,
    script: [{ when: 'work', call: { tool: 'slow__work' } }, { say: 'done' }],
    tools: [{ name: 'slow', exports: [{ name: 'work', description: 'Works.' }], handlers: { work } }],
    extensions: [
      extension('tidy', () => async () => {
        await cleanup();
        said.push('cleaned up');
      }),
    ],
  });
  return { agent, said, gate, clock };
}

describe('an agent', () => {
  test('needs a name and a model, and nothing else', async () => {
    const agent = await startAgent({ agentName: 'coder', models });
    const { result } = await agent.handle(inputEvent('e1'));
    expect(result.finishReason).toBe('text_response');
    expect(agent.parts.address).toEqual({ agentName: 'coder', instanceKey: 'default' });
    expect(agent.parts.plan.policy).toEqual(defaultPolicy);
    expect(agent.parts.workdir).toBe(process.cwd());
    await agent.close();
  });

  test('X-15 writes its log to standard error as JSON lines by default', async () => {
    const lines: string[] = [];
    const write = spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    try {
      const chatty = extension('chatty', ({ logger }) => logger.info('here'));
      await startAgent({ agentName: 'coder', models, extensions: [chatty] });
    } finally {
      write.mockRestore();
    }
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        message: 'here',
        agent: 'coder',
        instance: 'default',
        extension: 'chatty',
      },
    ]);
    expect(lines[0]).toEndWith('}\n');
  });

  test('handles the same event once: asked again, it returns the same result', async () => {
    const agent = await scriptedAgent();
    const first = await agent.say('hello', { event: { id: 'same' } });
    const again = await agent.say('hello', { event: { id: 'same' } });
    expect(again.result).toEqual(first.result);
    expect(agent.requests).toHaveLength(1);
    expect(await agent.messages()).toHaveLength(2);
  });
});

describe('closing an agent', () => {
  test('X-17 waits for the running turn, then lets extensions clean up', async () => {
    const { agent, said, gate, clock } = await busyAgent();
    const turn = agent.say('work').then(({ text }) => said.push(text));
    await clock.advance(0);
    const closed = agent.close(1_000).then(() => said.push('closed'));
    await clock.advance(999);
    expect(said).toEqual(['working']);
    gate.resolve();
    await Promise.all([turn, closed]);
    expect(said).toEqual(['working', 'done', 'cleaned up', 'closed']);
    expect(clock.pending).toBe(0);
  });

  test('X-17 waits no longer than the grace, and the cleanup is still called', async () => {
    const { agent, said, clock } = await busyAgent();
    void agent.say('work');
    await clock.advance(0);
    const closed = agent.close(1_000);
    await clock.advance(1_000);
    await closed;
    expect(said).toEqual(['working', 'cleaned up']);
  });

  test('X-17 the grace covers the turn and the cleanup together', async () => {
    const { agent, gate, clock } = await busyAgent(() => new Promise(() => undefined));
    void agent.say('work');
    await clock.advance(0);
    const closed = agent.close(1_000).then(() => clock.elapsed());
    await clock.advance(600);
    gate.resolve();
    await clock.advance(10_000);
    expect(await closed).toBe(1_000);
    expect(agent.logs.map(({ message }) => message)).toEqual(['cleanup was not finished within 400 ms']);
  });

  test('refuses further events with a code', async () => {
    const agent = await scriptedAgent({ agentName: 'coder' });
    await agent.close();
    expect(await agent.say('hello').catch((error: unknown) => error)).toMatchObject({
      code: 'E_AGENT_CLOSED',
      message: 'Agent "coder" is shut down.',
    });
  });

  test('X-17 called twice, both calls wait for the same closing', async () => {
    const said: string[] = [];
    const agent = await scriptedAgent({
      extensions: [
        extension('tidy', () => async () => {
          await Bun.sleep(2);
          said.push('cleaned up');
        }),
      ],
    });
    await Promise.all([agent.close(), agent.close().then(() => said.push('closed'))]);
    expect(said).toEqual(['cleaned up', 'closed']);
  });
});
