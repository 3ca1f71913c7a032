// Tests the extension `budget` with real processes, kills, and a local server.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import type { Swarm, TurnEnd } from '../../packages/runtime/src/control/swarm.ts';
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { sampledCases, samples, sampleStep } from '../samples.ts';
import { seed } from '../seed.ts';
import { openSwarm } from './open-swarm.ts';
import { startProvider } from './provider.ts';
import { until } from '../until.ts';

setDefaultTimeout(90_000);

const agents = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const budget = (...budgets: JsonObject[]) => [{ ref: 'Extension/budget', config: { budgets } }];

/** Asks these agents at once, each in several conversations. */
function askAll(swarm: Swarm, count: number, asking = agents): Promise<readonly TurnEnd[]> {
  const asked = asking.flatMap((agent) =>
    Array.from({ length: count }, (_, key) => swarm.ask({ agent, instanceKey: `k${key}`, input: 'Hello' })),
  );
  return Promise.all(asked);
}

const codesOf = (ends: readonly TurnEnd[]) => ends.map(({ result }) => result.error?.code ?? 'answered').toSorted();

/** `npm test` asks four of the ten agents. */
const callers = sampleStep === 1 ? agents : agents.slice(0, 4);
const twice = 2 * callers.length;

test(`Y-04 ${callers.length} agents at once, a budget of ${twice} calls: exactly ${twice} calls reach the server`, async () => {
  await using provider = startProvider({ delayMs: 10 });
  const extensions = budget({ name: 'all', calls: twice });
  await using running = await openSwarm({ url: provider.url, agents: callers, extensions, isolation: 'agent' });
  const ends = await askAll(running.swarm, 3, callers);
  expect(provider.requests.length).toBe(twice);
  const codes = codesOf(ends);
  expect(codes.filter((code) => code === 'answered').length).toBe(twice);
  expect(codes.filter((code) => code === 'E_BUDGET_EXCEEDED').length).toBe(callers.length);

  // The count survives a restart of the swarm.
  await running.startAgain();
  expect(codesOf([await running.swarm.ask({ agent: 'a', input: 'More' })])).toEqual(['E_BUDGET_EXCEEDED']);
  expect(provider.requests.length).toBe(twice);
});

test('Y-04 with kills, never more calls than the budget reach the server, and at most one is missing for each kill', async () => {
  const [calls, mostKills, killed] = sampleStep === 1 ? [20, 12, agents] : [8, 5, agents.slice(0, 4)];
  for (let sample = 0; sample < samples(10, 10); sample += 1) {
    await using provider = startProvider({ delayMs: 60 });
    const extensions = budget({ name: 'all', calls });
    const policy = { restart: { baseMs: 1, maxMs: 5 } };
    await using running = await openSwarm({ url: provider.url, agents: killed, extensions, policy });
    const random = seededRandom(seed, sample);
    let kills = 0;
    const over = new AbortController();
    const killing = (async () => {
      while (!over.signal.aborted && kills < mostKills) {
        await Bun.sleep(30 + random.below(60));
        const { instances } = await running.swarm.status();
        const pids = instances.flatMap(({ pid, status }) => (pid !== undefined && status === 'working' ? [pid] : []));
        const pid = pids[random.below(pids.length)];
        if (pid === undefined) continue;
        try {
          process.kill(pid, 'SIGKILL');
          kills += 1;
        } catch {
          // It has ended meanwhile.
        }
      }
    })();
    const ends = await askAll(running.swarm, 3, killed);
    over.abort();
    await killing;
    // Calls that did not reach the server before the end of the turns do so never.
    const reached = provider.requests.length;
    expect(reached).toBeLessThanOrEqual(calls);
    expect(calls - reached).toBeLessThanOrEqual(kills);
    expect(codesOf(ends)).toContain('E_BUDGET_EXCEEDED');
  }
});

const estimates = [
  ['an estimate that is high enough', 20, 0],
  // The server counts far more input than the short request has. At most 80 calls run at the same time.
  ['an estimate that is 2000 tokens too low', 2_000, 80 * 2_000],
] as const;

test.each([...sampledCases(estimates, 2)])(
  'Y-04 a budget of 100 000 tokens is exceeded at most by the error of %s',
  async (_, input, error) => {
    const usage = { input, output: 1_500 };
    await using provider = startProvider({ delayMs: 10, usage });
    const extensions = budget({ name: 'all', tokens: 100_000 });
    const params = { maxTokens: 1_500 };
    const few = agents.slice(0, 4);
    await using running = await openSwarm({ url: provider.url, agents: few, extensions, params, isolation: 'agent' });
    const codes = codesOf(await askAll(running.swarm, 20, few));
    expect(codes).toContain('E_BUDGET_EXCEEDED');
    // The last call was refused when less than its reservation was left, beside the reservations of the calls under way.
    expect(provider.tokens).toBeGreaterThan(95_000);
    expect(provider.tokens).toBeLessThanOrEqual(100_000 + error);
  },
);

describe('Y-04 a breach that asks', () => {
  const extensions = budget({ name: 'all', calls: 2, onBreach: 'ask' });

  test('approved, all turns go on with one more portion; denied, they end with a code', async () => {
    await using provider = startProvider();
    const two = agents.slice(0, 2);
    await using running = await openSwarm({ url: provider.url, agents: two, extensions, isolation: 'agent' });
    const { swarm } = running;
    const turns = askAll(swarm, 5, two);
    const open = async () => (await swarm.questions()).filter(({ kind }) => kind === 'budget');
    await until(async () => (await open()).length === 8, { about: 'eight turns wait' });
    const [question] = await open();
    expect(question).toMatchObject({
      kind: 'budget',
      reason: expect.stringMatching(
        /^The budget "all" allows 2 calls: \d used, \d reserved by running calls\. Approve 2 calls more\?$/,
      ),
      args: { budget: 'all', measure: 'calls', scope: 'swarm', limit: 2, to: 4 },
    });
    await until(() => provider.requests.length === 2, { about: 'the calls within the budget' });
    // One answer counts for all of them: two go on, and the other six ask for the next portion.
    await swarm.answer({ id: question?.id ?? '', by: 'ann', decision: 'approved' });
    await until(
      async () => {
        const asked = await open();
        return asked.length === 6 && asked.every(({ args }) => args['to'] === 6);
      },
      { about: 'six turns ask again' },
    );
    await until(() => provider.requests.length === 4, { about: 'the calls within the raised budget' });

    const [next] = await open();
    await swarm.answer({ id: next?.id ?? '', by: 'ann', note: 'Enough.', decision: 'denied' });
    const codes = codesOf(await turns);
    expect(codes.filter((code) => code === 'answered').length).toBe(4);
    expect(codes.filter((code) => code === 'E_BUDGET_EXCEEDED').length).toBe(6);
    expect(provider.requests.length).toBe(4);
  });

  test('waits across a restart, and the raised budget survives it', async () => {
    await using provider = startProvider();
    await using running = await openSwarm({ url: provider.url, agents, extensions });
    for (const agent of ['a', 'b']) await running.swarm.ask({ agent, input: 'Hello' });
    await running.swarm.deliver({ agent: 'c', input: 'Hello' });
    await until(async () => (await running.swarm.questions()).length === 1, { about: 'the turn waits' });
    await running.startAgain();
    const [question] = await running.swarm.questions();
    expect(question).toMatchObject({ agent: 'c', kind: 'budget' });
    await running.swarm.answer({ id: question?.id ?? '', decision: 'approved', by: 'ann' });
    await until(() => provider.requests.length === 3, { about: 'the turn went on' });
    await until(
      async () => {
        const { instances } = await running.swarm.status();
        return instances.every(({ queued }) => queued === 0);
      },
      { about: 'the turn has ended' },
    );
    await running.startAgain();
    expect(codesOf([await running.swarm.ask({ agent: 'd', input: 'Hello' })])).toEqual(['answered']);
    await running.swarm.deliver({ agent: 'e', input: 'Hello' });
    await until(async () => (await running.swarm.questions()).length === 1, { about: 'the next portion is used up' });
  });
});
