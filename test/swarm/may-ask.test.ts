// Tests `mayAsk` with real processes: tools, layers, forged frames, and a reload.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { startSwarm } from '@goondan/runtime';
import { addressOf, forgeCall } from './forge-call.ts';
import { answerOf, heardBy, makeTestFolder, shareTestSwarm, startTestSwarm, testPlan } from './start-test-swarm.ts';

setDefaultTimeout(60_000);

const witness = ['witness'];
const shared = shareTestSwarm({
  agents: [
    { name: 'lead', mayAsk: ['helper'] },
    { name: 'helper', description: 'Helps.', mayAsk: [] },
    { name: 'secret', extensions: witness },
  ],
});

describe('an agent with mayAsk', () => {
  test('asks and tells the agents on its list, which answer', async () => {
    const running = shared();
    expect(await running.say('lead', 'ask helper hello')).toBe('helper heard: hello');
    expect(await running.say('lead', 'tell helper hello')).toBe('{"accepted":true}');
    expect(await running.say('secret', 'ask lead hello')).toBe('lead heard: hello');
  });

  test('is refused by agents__request, agents__send and ctx.agents of its tools', async () => {
    const running = shared();
    const refused = {
      code: 'E_AGENT_NOT_ALLOWED',
      message: 'Agent "lead" may not ask agent "secret". It may ask: helper.',
    };
    expect(JSON.parse(await running.say('lead', 'ask secret hello'))).toMatchObject(refused);
    expect(JSON.parse(await running.say('lead', 'tell secret hello'))).toMatchObject({ error: refused });
    const steps = [{ ask: { target: 'secret', input: 'x' } }, { tell: { target: 'secret', input: 'x' } }] as const;
    expect(await running.run('lead', steps)).toMatchObject([refused, refused]);
    expect(await running.run('helper', [{ ask: { target: 'lead', input: 'x' } }])).toMatchObject([
      { code: 'E_AGENT_NOT_ALLOWED', message: 'Agent "helper" may not ask agent "lead". It may ask no agent.' },
    ]);
    expect(heardBy(running, 'secret').map(({ source }) => source.name)).not.toContain('lead');
  });

  test('is refused through an agent that may ask: the rule is about each single step', async () => {
    const inner = { name: 'errand', steps: [{ ask: { target: 'secret', input: 'x' } }] };
    const [end] = await shared().run('lead', [{ ask: { target: 'helper', errand: inner } }]);
    expect(end?.errand?.ends).toMatchObject([{ code: 'E_AGENT_NOT_ALLOWED' }]);
  });

  test('sees only these agents in agents__catalog and agents__list', async () => {
    const running = shared();
    await running.say('secret', 'hello');
    await running.say('helper', 'hello');
    expect(JSON.parse(await running.say('lead', 'catalog'))).toEqual({
      agents: [{ name: 'helper', description: 'Helps.' }],
    });
    expect(JSON.parse(await running.say('helper', 'catalog'))).toEqual({ agents: [] });
    expect(JSON.parse(await running.say('secret', 'catalog')).agents).toHaveLength(3);
    const listed = async (agent: string) => {
      const { instances } = JSON.parse(await running.say(agent, 'list')) as { instances: { agentName: string }[] };
      return [...new Set(instances.map(({ agentName }) => agentName))].toSorted();
    };
    expect(JSON.parse(await running.say('lead', 'list'))).toEqual({
      instances: [{ agentName: 'helper', instanceKey: 'default', status: 'idle' }],
    });
    expect(await listed('helper')).toEqual([]);
    expect(await listed('secret')).toContain('secret');
  });
});

test('code that writes into the channel of its process cannot go round mayAsk', async () => {
  const forger = { name: 'forger', extensions: ['forger'], mayAsk: [] };
  const victim = { name: 'victim', extensions: witness };
  await using running = await startTestSwarm({ agents: [forger, victim] });
  const about = { type: 'agent.message', instanceKey: 'default', source: { kind: 'agent', name: 'victim' } };
  const forge = (id: string, kind: string) => forgeCall(addressOf('victim'), { callId: id, kind }, { ...about, id });
  await running.say('forger', 'hello', { metadata: { forged: [forge('one', 'send'), forge('two', 'request')] } });
  expect(await running.say('victim', 'hello')).toBe('victim heard: hello');
  expect(heardBy(running, 'victim').map(({ input }) => input)).toEqual(['hello']);
});

test('a reload applies another mayAsk', async () => {
  const folder = await makeTestFolder();
  const plan = (mayAsk?: readonly string[]) =>
    testPlan(folder, { agents: [{ name: 'lead', ...(mayAsk === undefined ? {} : { mayAsk }) }, 'helper'] });
  let wanted = plan([]);
  const swarm = await startSwarm({ ...wanted, readPlan: async () => wanted });
  try {
    const ask = async () => answerOf(await swarm.ask({ agent: 'lead', input: 'ask helper hello' }));
    expect(await ask()).toContain('E_AGENT_NOT_ALLOWED');
    wanted = plan(['helper']);
    expect((await swarm.reload()).changed).toContain('Agent/lead');
    expect(await ask()).toBe('helper heard: hello');
    wanted = plan([]);
    await swarm.reload();
    expect(await ask()).toContain('E_AGENT_NOT_ALLOWED');
    wanted = plan();
    await swarm.reload();
    expect(await ask()).toBe('helper heard: hello');
    wanted = plan(['helpr']);
    expect(await swarm.reload().catch((error: unknown) => error)).toMatchObject({
      code: 'E_SWARM_PLAN',
      message: expect.stringContaining('may ask "helpr", which the swarm does not have (did you mean "helper"?)'),
    });
  } finally {
    await swarm.stop({ graceMs: 1_000 });
    rmSync(folder, { recursive: true, force: true });
  }
});
