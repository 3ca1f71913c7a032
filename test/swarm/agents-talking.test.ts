// Tests agents of a swarm that call each other in real processes, through the orchestrator.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { errand, startTestSwarm } from './start-test-swarm.ts';
import { testInProof } from '../samples.ts';
import { until } from '../until.ts';

setDefaultTimeout(60_000);

describe('the tools of the model', () => {
  test('A-05 R-01 agents__request goes through the orchestrator, which starts a process for the callee', async () => {
    await using running = await startTestSwarm({ agents: ['host', 'guest'] });
    const { swarm } = running;
    expect((await swarm.status()).instances).toEqual([]);
    expect(await running.say('host', 'ask guest How are you?')).toBe('guest heard: How are you?');
    const { instances, pid } = await swarm.status();
    expect(instances.map(({ agent, instanceKey }) => `${agent}/${instanceKey}`)).toEqual([
      'host/default',
      'guest/default',
    ]);
    expect(new Set([pid, ...instances.map((each) => each.pid)]).size).toBe(3);
    // A second call uses the same process.
    expect(await running.say('host', 'ask guest And now?')).toBe('guest heard: And now?');
    expect((await swarm.status()).instances).toEqual(instances);
  });

  test('A-05 agents__send goes the same way, and is accepted before the callee is done', async () => {
    await using running = await startTestSwarm({ agents: ['host', 'guest'] });
    const held = errand('held', [{ hold: 'gate' }]);
    expect(await running.say('host', `tell guest ${held}`)).toBe('{"accepted":true}');
    await until(() => running.notes().some(({ what, agentName }) => what === 'began' && agentName === 'guest'), {
      about: 'the guest works',
    });
    expect(running.ends.map(({ agent }) => agent)).toEqual(['host']);
    running.release('gate');
    await until(() => running.ends.some(({ agent }) => agent === 'guest'), { about: 'the guest is done' });
  });
});

describe('ctx.agents of an extension', () => {
  test.each(['turn', 'step'] as const)(
    'A-01 request from a %s layer returns target and response, and starts the target',
    async (kind) => {
      await using running = await startTestSwarm({ agents: [{ name: 'host', extensions: ['courier'] }, 'guest'] });
      const steps = [{ ask: { target: 'guest', input: 'Hello from a layer' } }];
      expect(await running.say('host', 'hello', { metadata: { [kind]: { name: 'layers', steps } } })).toBe(
        'host heard: hello',
      );
      const about = { ends: [{ target: 'guest', response: 'guest heard: Hello from a layer' }] };
      expect(running.notes().find(({ what }) => what === 'layer')).toMatchObject({ agentName: 'host', about });
      expect((await running.swarm.status()).instances).toHaveLength(2);
    },
  );
});

describe('errors of a call', () => {
  test('A-08 a failing turn of the callee rejects the request, with its code in the message', async () => {
    await using running = await startTestSwarm({ agents: ['host', 'guest'] });
    const message = 'Agent "guest" failed (E_MODEL_FAILED): as it was told to';
    expect(await running.run('host', [{ ask: { target: 'guest', input: 'fail' } }])).toEqual([
      { code: 'E_AGENT_FAILED', message },
    ]);
    expect(JSON.parse(await running.say('host', 'ask guest fail'))).toMatchObject({ code: 'E_AGENT_FAILED', message });
    // The turn failed, but the agent still works.
    expect(await running.say('host', 'ask guest Again?')).toBe('guest heard: Again?');
  });

  // `call-broker.test.ts` has a full inbox, too.
  testInProof('A-08 a full inbox is a coded error for the caller, and no accepted event is dropped', async () => {
    await using running = await startTestSwarm({ agents: ['host', 'guest'] });
    const { swarm } = running;
    await swarm.deliver({ agent: 'guest', input: errand('held', [{ hold: 'gate' }]) });
    await until(() => running.notes().length > 0, { about: 'the guest works' });
    // An inbox holds 1000 events. One of these is already being handled.
    const waiting = Array.from({ length: 999 }, (_, number) => `waiting-${number}`);
    await Promise.all(waiting.map((id) => swarm.deliver({ agent: 'guest', id, input: id })));
    const full = { code: 'E_INBOX_FULL', message: expect.stringContaining('"default" is full: 1000 events waiting') };
    const calls = [{ ask: { target: 'guest', input: 'Hello' } }, { tell: { target: 'guest', input: 'Hello' } }];
    expect(await running.run('host', calls)).toEqual([full, full]);
    // Another instance of the same agent has its own inbox.
    const [other] = await running.run('host', [{ ask: { target: 'guest', input: 'Hello', instanceKey: 'other' } }]);
    expect(other).toMatchObject({ response: 'guest heard: Hello' });
    expect((await swarm.status()).instances.find(({ agent }) => agent === 'guest')).toMatchObject({ queued: 1_000 });
  });
});
