/** Tests how calls over real sockets count if they fail. */
import { expect, test } from 'bun:test';
import type { BudgetOutcome } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';
import { openAt } from '../model/providers/wire/ask-model.ts';
import { compatibleCase } from '../model/providers/wire/provider-cases.ts';

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const args = { index: 0, id: 'c', type: 'function', function: { name: 'write', arguments: '{"text": "many' } };

/** Counts the calls of two turns with a budget that one call in full uses up. */
async function countCalls(url: string): Promise<readonly boolean[]> {
  const outcomes: BudgetOutcome[] = [];
  const register = layerOf(
    'model',
    async (ctx) => {
      const outcome = await ctx.budgets.reserve();
      outcomes.push(outcome);
      if (!outcome.ok) throw new Error('refused');
      return ctx.next();
    },
    { budgets: [{ name: 'all', measure: 'tokens', limit: 5_000, scope: 'swarm' }] },
  );
  const agent = await scriptedAgent({
    model: openAt(url, compatibleCase),
    extensions: [extension('guard', register)],
    policy: { maxStepRetries: 0 },
  });
  for (const input of ['one', 'two']) expect((await agent.say(input)).result.finishReason).toBe('error');
  return outcomes.map(({ ok }) => ok);
}

const answers = {
  'that breaks off in the arguments of a tool': head + chunk({ role: 'assistant', tool_calls: [args] }),
  'that breaks off after the headers': head,
  'that breaks off before the headers': '',
  'with an error in its stream': `${head}data: {"error":{"message":"busy","type":"server_error","code":500}}\n\n`,
};

test.each(Object.entries(answers))('Y-04 a call %s counts with everything that was reserved', async (_, answer) => {
  using server = startBreakingProvider(answer);
  expect(await countCalls(server.url)).toEqual([true, false]);
});

test('Y-04 a call that gets an error status is free', async () => {
  using server = startBreakingProvider('HTTP/1.1 503 Busy\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  expect(await countCalls(server.url)).toEqual([true, true]);
});

test('Y-04 a call that finds no server is free', async () => {
  const server = startBreakingProvider('');
  server[Symbol.dispose]();
  expect(await countCalls(server.url)).toEqual([true, true]);
});

/** Starts a server that closes each connection after this answer. */
function startBreakingProvider(answer: string) {
  const data = (socket: Bun.Socket) => void socket.end(answer);
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data } });
  return { url: `http://127.0.0.1:${listener.port}`, [Symbol.dispose]: () => listener.stop(true) };
}
