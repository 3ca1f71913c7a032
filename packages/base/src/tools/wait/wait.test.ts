import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import { scriptedAgent } from '@goondan/runtime/testing';
import { handlers } from './index.ts';

const exports = [{ name: 'seconds', description: 'Waits.' }];

/** Lets a model wait once. The answer is the result of the call. */
function waiting(seconds: number, { config = {}, policy = {} }: { config?: JsonObject; policy?: JsonObject } = {}) {
  return scriptedAgent({
    script: [
      { when: 'go', call: { tool: 'wait__seconds', args: { seconds } } },
      { say: '{{result.waitedMs}} {{result.notice}}{{result.error.code}}' },
    ],
    tools: [{ name: 'wait', exports, handlers, config }],
    policy,
  });
}

async function timed<T>(action: () => Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const start = performance.now();
  const value = await action();
  return { value, ms: performance.now() - start };
}

describe('wait', () => {
  test('waits as long as asked, and says how long', async () => {
    const agent = await waiting(0.2);
    const { value, ms } = await timed(() => agent.say('go'));
    const [waitedMs = 0] = value.text.split(' ').map(Number);
    expect(waitedMs).toBeWithin(195, 2_000);
    expect(ms).toBeGreaterThanOrEqual(195);
    expect(value.text).toBe(`${waitedMs} `);
  });

  test('waits no longer than the config allows, and says so', async () => {
    const agent = await waiting(3_600, { config: { maxSeconds: 0.05 } });
    const { value, ms } = await timed(() => agent.say('go'));
    expect(value.text).toEndWith(' One call waits at most 0.05 s, but 3600 s were asked for.');
    expect(ms).toBeWithin(45, 5_000);
  });

  test('says nothing more when it waited for the longest time of the config', async () => {
    const agent = await waiting(0.05, { config: { maxSeconds: 0.05 } });
    expect((await agent.say('go')).text).toMatch(/^\d+ $/);
  });

  test('waits no longer than a tool call may take', async () => {
    const agent = await waiting(60, { policy: { toolTimeoutMs: 50 } });
    const { value, ms } = await timed(() => agent.say('go'));
    expect(value.text).toBe(' E_TOOL_TIMEOUT');
    expect(ms).toBeLessThan(5_000);
  });

  test('ends at once when its signal aborts', async () => {
    const controller = new AbortController();
    // The cast is safe: the handler uses only these fields.
    const ctx = { config: {}, signal: controller.signal } as unknown as Parameters<typeof handlers.seconds>[0];
    const wait = async () => handlers.seconds(ctx, { seconds: 60 });
    const { value, ms } = await timed(() => {
      setTimeout(() => controller.abort(), 20);
      return Promise.allSettled([wait()]);
    });
    expect(value).toMatchObject([{ status: 'rejected' }]);
    expect(ms).toBeLessThan(5_000);
    expect(await Promise.allSettled([wait()])).toMatchObject([{ status: 'rejected' }]);
  });
});
