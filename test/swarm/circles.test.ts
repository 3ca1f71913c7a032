// Tests requests that could never be answered, because agents wait for each other. They are refused at once, even
// across several processes.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { shareTestSwarm, startTestSwarm, type TestSwarm } from './start-test-swarm.ts';
import type { Errand, StepEnd } from './bundle/run-errand.ts';
import { until } from '../until.ts';

setDefaultTimeout(60_000);

/** The timeout is long, so that a timeout cannot be mistaken for a refusal. */
const policy = { requestTimeoutMs: 60_000 };
const AT_ONCE_MS = 20_000;

/** Lets each agent ask the next one. Returns how the last request ended. */
async function askInTurn(running: TestSwarm, names: readonly string[], last: string): Promise<StepEnd | undefined> {
  const [first = '', ...others] = names;
  const questions = [...others, last].reduceRight<Errand>(
    (inner, target) => ({ name: `ask ${target}`, steps: [{ ask: { target, errand: inner } }] }),
    { name: 'the last', steps: [] },
  );
  const startedAt = performance.now();
  let [end] = await running.run(first, questions.steps);
  expect(performance.now() - startedAt).toBeLessThan(AT_ONCE_MS);
  for (const name of others) {
    expect(end?.errand?.agentName).toBe(name);
    end = end?.errand?.ends[0];
  }
  // No agent has work left or waits for another.
  const asked = (await running.swarm.status()).instances.filter(
    ({ agent, instanceKey }) => instanceKey === 'default' && names.includes(agent),
  );
  expect(asked.map(({ status }) => status)).toEqual(names.map(() => 'idle'));
  return end;
}

describe('a request that returns to its caller', () => {
  const shared = shareTestSwarm({ agents: ['a', 'b', 'c', 'd', 'e'], policy });

  test.each([
    ['itself', ['a'], 'a', 'a → a'],
    ['A→B→A', ['a', 'b'], 'a', 'a → b → a'],
    ['a circle of five', ['a', 'b', 'c', 'd', 'e'], 'a', 'a → b → c → d → e → a'],
    ['one in the middle', ['a', 'b', 'c'], 'b', 'a → b → c → b'],
  ])('A-04 %s fails at once, with the chain in the message', async (_name, names, last, chain) => {
    const message = `A request that would wait for itself: ${chain} (instance "default").`;
    expect(await askInTurn(shared(), names, last)).toEqual({ code: 'E_AGENT_CYCLE', message });
  });
});

describe('a circle through queues', () => {
  test('A-04 A waits for B, and B asks A in another turn: refused at once, and A gets its answer', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b'], policy });
    const { swarm } = running;
    // `b` is busy with other work, so the question of `a` is queued behind it.
    const other = running.run('b', [{ hold: 'gate' }, { ask: { target: 'a', input: 'from the other turn' } }]);
    await until(() => running.notes().some(({ what }) => what === 'began'), { about: 'B works' });
    const asking = running.run('a', [{ ask: { target: 'b', input: 'waiting' } }]);
    await until(
      async () => (await swarm.status()).instances.some(({ agent, queued }) => agent === 'b' && queued === 2),
      { about: "A's question is in line" },
    );
    const startedAt = performance.now();
    running.release('gate');
    expect(await other).toEqual([
      { isAborted: false },
      {
        code: 'E_AGENT_DEADLOCK',
        message:
          'A request that could never be answered, because each of these would wait for the next: b → a → b (instance "default").',
      },
    ]);
    expect(await asking).toMatchObject([{ response: 'b heard: waiting' }]);
    expect(performance.now() - startedAt).toBeLessThan(AT_ONCE_MS);
  });
});
