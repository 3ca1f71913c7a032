// Tests a request that takes too long. The caller and the called agent are notified, and neither gets the answer to
// another request.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { errand, startTestSwarm } from './start-test-swarm.ts';
import { until } from '../until.ts';

setDefaultTimeout(60_000);

const LONG_MS = 60_000;
const lateMessage = (ms: number) => `Agent "b" did not answer within ${ms} ms (timeoutMs of the request).`;

// Each test has a swarm of its own and waits for a time limit, so they wait together.
describe.concurrent('a request that is not answered in time', () => {
  test('A-03 ends with an error that names target and time, and the turn of the callee is cancelled', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b'] });
    const sleeping = { name: 'sleeping', steps: [{ sleep: LONG_MS }] };
    // The start of its process would count.
    await running.say('b', 'hello');
    expect(await running.run('a', [{ ask: { target: 'b', errand: sleeping, timeoutMs: 1_500 } }])).toEqual([
      { code: 'E_AGENT_TIMEOUT', message: lateMessage(1_500) },
    ]);
    // In the called agent's tool, `ctx.signal` aborted. The turn ended long before the tool would have ended.
    await until(() => running.notes().some(({ what, agentName }) => what === 'aborted' && agentName === 'b'), {
      about: 'the tool is told',
    });
    const end = await until(() => running.ends.findLast(({ agent, result }) => agent === 'b' && result.error), {
      about: 'its turn ends',
    });
    expect(end.result.error).toMatchObject({ code: 'E_CANCELLED' });
  });

  test('A-03 ends at its limit, counted from the call, while the callee is busy, and never runs', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b'] });
    const busy = running.run('b', [{ hold: 'gate' }]);
    await until(() => running.notes().length === 1, { about: 'B works' });
    const never = { name: 'never', steps: [{ sleep: LONG_MS }] };
    expect(await running.run('a', [{ ask: { target: 'b', errand: never, timeoutMs: 300 } }])).toEqual([
      { code: 'E_AGENT_TIMEOUT', message: lateMessage(300) },
    ]);
    running.release('gate');
    await busy;
    expect(await running.say('a', 'ask b And now?')).toBe('b heard: And now?');
    expect(running.notes().filter(({ what, errand: name }) => what === 'began' && name === 'never')).toEqual([]);
  });

  test('A-03 the late reply is dropped, and the next request to the same callee gets its own', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b'] });
    const sleeping = { name: 'sleeping', steps: [{ sleep: LONG_MS }] };
    const ends = await running.run('a', [
      { ask: { target: 'b', errand: sleeping, timeoutMs: 500 } },
      { ask: { target: 'b', input: 'second' } },
    ]);
    expect(ends).toMatchObject([{ code: 'E_AGENT_TIMEOUT' }, { response: 'b heard: second' }]);
    const late = running.logs.filter(({ event }) => event === 'reply.late');
    expect(late.map(({ message }) => message)).toEqual([
      'A reply of agent "b" to a came when nobody waited for it any more.',
    ]);
  });

  test('A-03 one that ends before its turn begins, or just then, is cancelled', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b'] });
    const ask = { ask: { target: 'b', errand: { name: 'late', steps: [{ sleep: LONG_MS }] }, timeoutMs: 1 } };
    const error = { code: 'E_AGENT_TIMEOUT', message: lateMessage(1) };
    expect(await running.run('a', [ask, ask, ask, ask])).toEqual([error, error, error, error]);
    const ends = await until(
      () => {
        const all = running.ends.filter(({ agent }) => agent === 'b');
        return all.length === 4 && all;
      },
      { about: 'all of them are over' },
    );
    expect(ends.map(({ result }) => result.error?.code)).toEqual(Array(4).fill('E_CANCELLED'));
  });

  test('a cancelled callee gives up its own requests, and so on down the chain', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b', 'c'] });
    for (const agent of ['b', 'c']) await running.say(agent, 'hello');
    const inner = { name: 'inner', steps: [{ sleep: LONG_MS }] };
    const outer = { name: 'outer', steps: [{ ask: { target: 'c', errand: inner, timeoutMs: LONG_MS } }] };
    expect(await running.run('a', [{ ask: { target: 'b', errand: outer, timeoutMs: 2_000 } }])).toMatchObject([
      { code: 'E_AGENT_TIMEOUT' },
    ]);
    const aborted = await until(() => running.notes().find(({ what }) => what === 'aborted'), {
      about: 'the last one is told',
    });
    expect(aborted).toMatchObject({ agentName: 'c', errand: 'inner' });
    await until(async () => (await running.swarm.status()).instances.every(({ status }) => status === 'idle'), {
      about: 'everybody is free again',
    });
  });
});

// Its time limit is short, so it runs alone.
describe('a request of a model in the queue of its callee', () => {
  test('A-03 one that waits too long in the queue of the callee never runs, and names the deadline', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b'], policy: { queueTimeoutMs: 300 } });
    const busy = running.run('b', [{ hold: 'gate' }]);
    await until(() => running.notes().length === 1, { about: 'B works' });
    const problem = 'Agent "b" did not begin its turn within 300 ms (its policy.queueTimeoutMs).';
    const answer = await running.say('a', `ask b ${errand('never', [{ sleep: LONG_MS }])}`);
    expect(JSON.parse(answer)).toMatchObject({ code: 'E_AGENT_TIMEOUT', message: problem });
    running.release('gate');
    await busy;
    expect(await running.say('a', 'ask b And now?')).toBe('b heard: And now?');
    expect(running.notes().filter(({ what, errand: name }) => what === 'began' && name === 'never')).toEqual([]);
  });
});
