/** Tests the limits of a model in one agent that runs alone. */
import { expect, test } from 'bun:test';
import { systemClock } from '../../ports/clock.ts';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';
import { recordTurn } from '../../trace/record-turn.ts';
import type { ChainRecord } from '../../trace/turn-trace.ts';
import { claimLimits, limitsOf } from './model-limits.ts';

const twice = layerOf('turn', async (ctx) => {
  const generate = () => ctx.model.generate({ messages: [{ role: 'user', content: 'Hm?' }] });
  await Promise.all([generate(), generate(), generate()]);
  return ctx.next();
});
const model = { provider: 'scripted', model: 'm', options: { script: [{ say: 'yes' }], latencyMs: 200 } };

test('Y-07 calls of layers wait for the limits, and the wait is not a part of the time limit of the call', async () => {
  const agent = await scriptedAgent({
    modelRef: 'Model/m',
    models: { 'Model/m': { ...model, limits: { concurrent: 1, countedAs: 'Model/m' } } },
    extensions: [extension('twice', twice)],
    // The third call waits for two others, and would be too late if that counted.
    policy: { modelTimeoutMs: 500, maxStepRetries: 0 },
  });
  const { text, trace } = await agent.say('Hello.');
  expect(text).toBe('yes');
  const waits = trace?.inside.flatMap(({ kind, limitMs }) => (kind === 'model' ? [limitMs ?? -1] : [])) ?? [];
  const [first = 0, second = 0, third = 0, ...others] = waits.toSorted((one, other) => one - other);
  expect(others).toEqual([]);
  expect([second - first > 150, third - second > 150]).toEqual([true, true]);
});

test('Y-07 a wait is told to watchers with its limit and its time, and the trace of the running turn has it', async () => {
  const agent = await scriptedAgent({
    modelRef: 'Model/m',
    models: { 'Model/m': { ...model, limits: { concurrent: 1, countedAs: 'Model/m' } } },
    extensions: [extension('twice', twice)],
  });
  const observer = recordTurn(systemClock);
  const seen: ChainRecord[] = [];
  agent.agent.parts.bus.on('limit.reached', () => seen.push(...(observer.turn()?.inside ?? [])));
  await agent.say('Hello.', { observer });
  const reached = agent.told.flatMap((event) => (event.name === 'limit.reached' ? [event.payload] : []));
  const waited = agent.told.flatMap((event) => (event.name === 'limit.waited' ? [event.payload] : []));
  const limit = 'concurrent: 1 of Model/m';
  expect(reached).toMatchObject([{ modelRef: 'Model/m', limit }, { limit }]);
  expect(waited).toMatchObject([{ modelRef: 'Model/m', limit }, { limit }]);
  expect(waited.map(({ duration }) => duration > 150)).toEqual([true, true]);
  expect(seen.map(({ limitWait }) => limitWait?.limit)).toContain(limit);
  expect(observer.turn()?.inside.filter((each) => each.limitWait !== undefined)).toEqual([]);
});

test('a call reserves an estimate of its tokens, and settles with the real number', async () => {
  const limits = { tokensPerMinute: 5_000, countedAs: 'Model/m' };
  const agent = await scriptedAgent({
    modelRef: 'Model/m',
    models: { 'Model/m': { ...model, options: { script: [{ say: 'yes' }] }, limits, params: { maxTokens: 4_000 } } },
  });
  // Each call needs more than half of the limit before it ends, and almost nothing after that.
  for (let turn = 0; turn < 3; turn += 1) {
    const { trace } = await agent.say('Hello.');
    const [call] = trace?.inside[0]?.inside ?? [];
    expect(call?.reservedTokens).toBeWithin(4_000, 4_500);
    expect(call?.limitMs).toBeLessThan(1_000);
  }
});

test('Y-07 a recording counts for the model that it records, and only while it records', () => {
  const limits = { concurrent: 2, countedAs: 'Model/real' };
  const entries = (mode: string) => ({
    'Model/tape': { provider: 'cassette', model: 't', options: { mode, upstream: 'Model/real' } },
    'Model/real': { provider: 'scripted', model: 'm', limits },
  });
  expect(limitsOf(entries('record'), 'Model/tape')).toEqual([limits]);
  expect(limitsOf(entries('replay'), 'Model/tape')).toEqual([]);
  expect(limitsOf(entries('record'), 'Model/none')).toEqual([]);
});

test('a call that needs more tokens than its limit goes alone', () => {
  const [claim] = claimLimits({ tokensPerMinute: 100, countedAs: 'Model/m' }, 5_000);
  expect(claim).toMatchObject({ measure: 'tokens', words: 'tokensPerMinute: 100 of Model/m', claim: { amount: 100 } });
});
