// Tests requests that could never be answered, because agents wait for each other. They are refused at once, even
// across several processes.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { shareTestSwarm, startTestSwarm, type TestSwarm } from './start-test-swarm.ts';
import type { Errand, ErrandStep, StepEnd } from './bundle/run-errand.ts';
import { testInProof } from '../samples.ts';
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
  const courier = { name: 'courier', extensions: ['courier'] };
  const shared = shareTestSwarm({ agents: ['a', 'b', 'c', 'd', 'e', courier], policy });

  test.each([
    ['itself', ['a'], 'a', 'a → a'],
    ['A→B→A', ['a', 'b'], 'a', 'a → b → a'],
    ['a circle of five', ['a', 'b', 'c', 'd', 'e'], 'a', 'a → b → c → d → e → a'],
    ['one in the middle', ['a', 'b', 'c'], 'b', 'a → b → c → b'],
  ])('A-04 %s fails at once, with the chain in the message', async (_name, names, last, chain) => {
    const message = `A request that would wait for itself: ${chain} (instance "default").`;
    expect(await askInTurn(shared(), names, last)).toEqual({ code: 'E_AGENT_CYCLE', message });
  });

  test('A-04 the same agent with another instance key is another one, and the chain shows it', async () => {
    const back = { name: 'back', steps: [{ ask: { target: 'a', instanceKey: 'one' } }] };
    const [end] = await shared().run('a', [{ ask: { target: 'a', instanceKey: 'two', errand: back } }], {
      instanceKey: 'one',
    });
    const chain = 'a "one" → a "two" → a "one"';
    expect(end?.errand?.ends).toEqual([
      { code: 'E_AGENT_CYCLE', message: `A request that would wait for itself: ${chain}.` },
    ]);
  });

  test('A-04 through a layer of an extension it is the same', async () => {
    const running = shared();
    const metadata = { turn: { name: 'back', steps: [{ ask: { target: 'a' } }] } };
    await running.run('a', [{ ask: { target: 'courier', input: 'hello', metadata } }]);
    expect(running.notes().find(({ what }) => what === 'layer')).toMatchObject({
      about: { ends: [{ code: 'E_AGENT_CYCLE', message: expect.stringContaining('a → courier → a') }] },
    });
  });

  // `call-broker.test.ts` has this limit, too.
  testInProof('more than 16 deep is refused, although no agent is in it twice', async () => {
    await using running = await startTestSwarm({ agents: ['a'], policy });
    const deep = (depth: number): Errand => ({
      name: 'deep',
      steps: depth === 0 ? [] : [{ ask: { target: 'a', instanceKey: `at-${depth}`, errand: deep(depth - 1) } }],
    });
    let [end] = await running.run('a', deep(18).steps, { instanceKey: 'top' });
    let depth = 0;
    for (; end?.errand !== undefined; depth++) [end] = end.errand.ends;
    expect(depth).toBe(16);
    expect(end).toMatchObject({
      code: 'E_AGENT_DEPTH',
      message: expect.stringMatching(/a "top" → a "at-18" → .*a "at-2"/),
    });
  });
});

describe('a circle of sends', () => {
  test('A-04 works: every one is handled, again and again', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b', 'c'], policy });
    const rounds = 9;
    const next: Record<string, string> = { a: 'b', b: 'c', c: 'a' };
    const pass = (from: string, left: number): ErrandStep[] => {
      const target = next[from] ?? '';
      return left === 0 ? [] : [{ tell: { target, errand: { name: 'pass', steps: pass(target, left - 1) } } }];
    };
    expect(await running.run('a', pass('a', rounds))).toEqual([{ accepted: true }]);
    await until(() => running.ends.length === rounds + 1, { about: 'the last one is told' });
    expect(
      running.ends
        .map(({ agent }) => agent)
        .toSorted()
        .join(''),
    ).toBe('aaaabbbccc');
    expect(running.ends.every(({ result }) => result.finishReason === 'text_response')).toBe(true);
  });

  test('A-04 to itself works, too', async () => {
    await using running = await startTestSwarm({ agents: ['a'], policy });
    expect(await running.run('a', [{ tell: { target: 'a', input: 'to myself' } }])).toEqual([{ accepted: true }]);
    await until(() => running.ends.length === 2, { about: 'it is handled' });
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

  test('A-04 with three agents, of which two wait: the one that closes it is refused', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b', 'c'], policy });
    const { swarm } = running;
    const queued = async (agent: string) =>
      (await swarm.status()).instances.find((each) => each.agent === agent)?.queued;
    const third = running.run('c', [{ hold: 'gate' }, { ask: { target: 'a', input: 'from C' } }]);
    await until(() => running.notes().length === 1, { about: 'C works' });
    const second = running.run('b', [{ ask: { target: 'c', input: 'from B' } }]);
    await until(async () => (await queued('c')) === 2, { about: 'B waits for C' });
    const first = running.run('a', [{ ask: { target: 'b', input: 'from A' } }]);
    await until(async () => (await queued('b')) === 2, { about: 'A waits for B' });
    running.release('gate');
    expect(await third).toMatchObject([
      {},
      { code: 'E_AGENT_DEADLOCK', message: expect.stringContaining('c → a → b → c') },
    ]);
    expect(await second).toMatchObject([{ response: 'c heard: from B' }]);
    expect(await first).toMatchObject([{ response: 'b heard: from A' }]);
  });
});
