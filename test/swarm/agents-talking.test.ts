// Tests agents of a swarm that call each other in real processes, through the orchestrator.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { rejectionOf } from '../../packages/runtime/src/workspace/simulation/rejection-of.ts';
import { errand, heardBy, startTestSwarm } from './start-test-swarm.ts';
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

  test('A-05 agents__request and agents__send accept another instance key; the default is that of the caller', async () => {
    await using running = await startTestSwarm({ agents: ['host', { name: 'guest', extensions: ['witness'] }] });
    await running.run(
      'host',
      [
        { ask: { target: 'guest', input: 'one' } },
        { ask: { target: 'guest', input: 'two', instanceKey: 'other' } },
        { tell: { target: 'guest', input: 'three' } },
        { tell: { target: 'guest', input: 'four', instanceKey: 'other' } },
      ],
      { instanceKey: 'mine' },
    );
    const heard = await until(
      () => {
        const all = heardBy(running, 'guest');
        return all.length === 4 && all;
      },
      { about: 'all four are heard' },
    );
    const keys = Object.fromEntries(heard.map(({ input = '', instanceKey }) => [input, instanceKey]));
    expect(keys).toEqual({ one: 'mine', two: 'other', three: 'mine', four: 'other' });
    expect(
      running
        .notes()
        .filter(({ what }) => what === 'heard')
        .map(({ instanceKey }) => instanceKey)
        .toSorted(),
    ).toEqual(['mine', 'mine', 'other', 'other']);
  });

  test('agents__catalog and agents__list show the other agents', async () => {
    await using running = await startTestSwarm({
      agents: [{ name: 'host', description: 'Welcomes.' }, 'guest', 'nobody'],
    });
    await running.say('guest', 'hello', { instanceKey: 'room' });
    const catalog: unknown = JSON.parse(await running.say('host', 'catalog'));
    expect(catalog).toEqual({
      agents: [{ name: 'host', description: 'Welcomes.' }, { name: 'guest' }, { name: 'nobody' }],
    });
    const list: unknown = JSON.parse(await running.say('host', 'list'));
    expect(list).toEqual({
      instances: [
        { agentName: 'guest', instanceKey: 'room', status: 'idle' },
        { agentName: 'host', instanceKey: 'default', status: 'working' },
      ],
    });
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

  test.each(['turn', 'step'] as const)(
    'A-02 send from a %s layer resolves when it is accepted, without waiting',
    async (kind) => {
      await using running = await startTestSwarm({ agents: [{ name: 'host', extensions: ['courier'] }, 'guest'] });
      const steps = [{ tell: { target: 'guest', errand: { name: 'held', steps: [{ hold: 'gate' }] } } }];
      expect(await running.say('host', 'hello', { metadata: { [kind]: { name: 'layers', steps } } })).toBe(
        'host heard: hello',
      );
      const about = { ends: [{ accepted: true }] };
      expect(running.notes().find(({ what }) => what === 'layer')).toMatchObject({ agentName: 'host', about });
      // The host's turn has ended while the guest's turn still runs.
      expect(running.ends.map(({ agent }) => agent)).toEqual(['host']);
      running.release('gate');
      await until(() => running.ends.some(({ agent }) => agent === 'guest'), { about: 'the guest is done' });
    },
  );
});

describe('errors of a call', () => {
  test('A-06 an unknown target is a coded error that lists the agents, for the model and for a layer', async () => {
    await using running = await startTestSwarm({ agents: [{ name: 'host', extensions: ['courier'] }, 'guest'] });
    const error = { code: 'E_AGENT_UNKNOWN', message: 'There is no agent "gest". Agents: host, guest.' };
    expect(JSON.parse(await running.say('host', 'ask gest Hello'))).toMatchObject(error);
    const steps = [{ ask: { target: 'gest' } }, { tell: { target: 'gest' } }];
    await running.say('host', 'hello', { metadata: { turn: { name: 'layers', steps } } });
    expect(running.notes().find(({ what }) => what === 'layer')).toMatchObject({ about: { ends: [error, error] } });
    expect(await rejectionOf(running.swarm.deliver({ agent: 'gest', input: 'hello' }))).toMatchObject(error);
    expect((await running.swarm.status()).instances.map(({ agent }) => agent)).toEqual(['host']);
  });

  test("A-08 metadata arrives as the callee's inputEvent.metadata, of a request and of a send", async () => {
    await using running = await startTestSwarm({ agents: ['host', { name: 'guest', extensions: ['witness'] }] });
    const metadata = { table: 4, wishes: [{ tea: true }, null, 'ünïcode'] };
    await running.run('host', [
      { ask: { target: 'guest', input: 'one', metadata } },
      { tell: { target: 'guest', metadata } },
    ]);
    const heard = await until(
      () => {
        const all = heardBy(running, 'guest');
        return all.length === 2 && all;
      },
      { about: 'both are heard' },
    );
    expect(heard.map((event) => event.metadata)).toEqual([metadata, metadata]);
  });

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
    let delivered = 1;
    const fill = async () => {
      while (delivered < 1_000) {
        const number = delivered++;
        await swarm.deliver({
          agent: 'guest',
          id: `filling-${number}`,
          input: createHash('sha1').update(String(number)).digest('hex'),
        });
      }
    };
    await Promise.all(Array.from({ length: 50 }, fill));
    const full = { code: 'E_INBOX_FULL', message: expect.stringContaining('"default" is full: 1000 events waiting') };
    expect(
      await running.run('host', [
        { ask: { target: 'guest', input: 'Hello' } },
        { tell: { target: 'guest', input: 'Hello' } },
      ]),
    ).toEqual([full, full]);
    expect(await rejectionOf(swarm.deliver({ agent: 'guest' }))).toMatchObject(full);
    // Another instance of the same agent has its own inbox.
    expect(
      await running.run('host', [{ ask: { target: 'guest', input: 'Hello', instanceKey: 'other' } }]),
    ).toMatchObject([{ response: 'guest heard: Hello' }]);
    expect((await swarm.status()).instances.find(({ agent }) => agent === 'guest')).toMatchObject({ queued: 1_000 });
  });
});
