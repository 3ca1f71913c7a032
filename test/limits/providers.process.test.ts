// Tests `Model.spec.limits` over 8 processes, at servers with the wire formats of all providers.
import { expect, setDefaultTimeout } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import { providerCases } from '../../packages/runtime/src/agent/model/providers/wire/provider-cases.ts';
import { testInProof } from '../samples.ts';
import { openSwarm } from './open-swarm.ts';
import { startProvider } from './provider.ts';
import { until } from '../until.ts';

setDefaultTimeout(90_000);

const agents = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** The model writes as much as it may, so a call uses at most what it has reserved. */
const usage = { input: 20, output: 100 };

for (const [name, wire] of providerCases) {
  const openAll = async (limits: JsonObject) => {
    const provider = startProvider({ wire, delayMs: 20, usage });
    const bundle = { url: provider.url, provider: wire.provider, agents, limits, params: { maxTokens: usage.output } };
    const running = await openSwarm({ ...bundle, isolation: 'agent' });
    const { swarm } = running;
    for (const agent of agents)
      for (const instanceKey of ['1', '2', '3']) await swarm.deliver({ agent, instanceKey, input: 'Hello' });
    const waiting = async () => (await swarm.status()).instances.flatMap(({ limitWait }) => limitWait?.limit ?? []);
    const settle = async () => {
      await Bun.sleep(1_000);
      const { instances } = await swarm.status();
      expect(new Set(instances.map(({ pid }) => pid)).size).toBe(agents.length);
      console.log(
        `${name}: ${provider.requests.length} calls, ${provider.tokens} tokens, ${provider.mostOpen} at once`,
      );
    };
    const close = async () => {
      await running[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    };
    return { provider, waiting, settle, [Symbol.asyncDispose]: close };
  };

  testInProof(`Y-07 ${name}: requestsPerMinute and concurrent hold over 8 processes`, async () => {
    await using all = await openAll({ requestsPerMinute: 19, concurrent: 3 });
    await until(() => all.provider.requests.length >= 19, { about: 'the minute is full' });
    await all.settle();
    expect([all.provider.requests.length, all.provider.mostOpen]).toEqual([19, 3]);
    expect(await all.waiting()).toHaveLength(5);
  });

  testInProof(`Y-07 ${name}: tokensPerMinute holds over 8 processes`, async () => {
    await using all = await openAll({ tokensPerMinute: 2_000 });
    await until(async () => (await all.waiting()).includes('tokensPerMinute: 2000 of Model/main'), {
      about: 'calls wait',
    });
    await all.settle();
    expect(all.provider.tokens).toBeGreaterThan(1_000);
    expect(all.provider.tokens).toBeLessThanOrEqual(2_000);
    expect(await all.waiting()).toHaveLength(24 - all.provider.requests.length);
  });
}
