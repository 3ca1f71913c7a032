import { describe, expect, test } from 'bun:test';
import type { AgentStart } from '../../config/agent-start.ts';
import { agentLanguage } from '../../ipc/codec.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { fakeSpawn } from '../../testing/fake-spawn.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { superviseProcess } from './supervise-process.ts';

const address = { agentName: 'a', instanceKey: 'k' };
const start: AgentStart = {
  address,
  agent: { agentName: 'a', models: {} },
  agents: [{ name: 'a' }],
  store: { stateRoot: '/state', workspaceId: 'w' },
  cwd: '/',
};

function run() {
  const clock = manualClock();
  const fake = fakeSpawn<ToAgent, FromAgent>();
  const process = fake.spawn(agentLanguage, { name: 'a', runner: 'none', frameFolder: '/' });
  const [child] = fake.children;
  if (child === undefined) throw new Error('no child');
  const heard: string[] = [];
  child.channel.onMessage(({ type }) => void heard.push(type));
  const told: string[] = [];
  const supervised = superviseProcess<ToAgent, FromAgent>(
    process,
    start,
    { heartbeat: () => ({ everyMs: 100, missedPings: 3 }), clock },
    {
      message: ({ type }) => void told.push(type),
      refused: () => void told.push('refused'),
      hung: () => void told.push('hung'),
      exited: ({ code, signal }) => void told.push(`exited ${code ?? signal}`),
      cutOff: () => void told.push('cut off'),
      unsent: () => void told.push('unsent'),
    },
  );
  return { clock, child, heard, told, supervised };
}

describe("an agent's process", () => {
  test('gets its identity first, and then pings', async () => {
    const { clock, heard } = run();
    await clock.advance(250);
    expect(heard).toEqual(['start', 'ping', 'ping']);
  });

  test('is reported at the fourth ping when it does not answer, and not when it does', async () => {
    const silent = run();
    await silent.clock.advance(350);
    expect(silent.told).toEqual([]);
    await silent.clock.advance(100);
    expect(silent.told).toEqual(['hung']);

    const lively = run();
    lively.child.channel.onMessage((message) => {
      if (message.type === 'ping') void lively.child.channel.send({ type: 'pong', n: message.n });
    });
    await lively.clock.advance(1_000);
    expect(lively.told).toEqual([]);
  });

  test.each([
    ['does not confirm', false, ['hung']],
    ['confirms', true, ['turn.begun']],
  ])('that answers pings and %s a turn', async (_, isConfirmed, expected) => {
    const { clock, child, told, supervised } = run();
    child.channel.onMessage((message) => {
      if (message.type === 'ping') void child.channel.send({ type: 'pong', n: message.n });
      if (message.type === 'turn' && isConfirmed) void child.channel.send({ type: 'turn.begun' });
    });
    await clock.advance(150);
    supervised.say({ type: 'turn', event: fakeEvent('go'), seq: 1 });
    await clock.advance(300);
    expect(told).toEqual(isConfirmed ? expected : []);
    await clock.advance(100);
    expect(told).toEqual(expected);
  });

  test('is reported when it closed its channel and lives on', async () => {
    const { clock, child, told } = run();
    await clock.advance(1);
    child.channel.close();
    await clock.advance(900);
    expect(told).not.toContain('cut off');
    await clock.advance(200);
    expect(told).toContain('cut off');
  });

  test('has ten seconds to exit after it has drained, because a busy machine ends it slowly', async () => {
    const { clock, child, told } = run();
    await clock.advance(1);
    await child.channel.send({ type: 'drained' });
    child.channel.close();
    await clock.advance(9_000);
    expect(told).not.toContain('cut off');
    await clock.advance(2_000);
    expect(told).toContain('cut off');
  });

  test('is neither killed for its closed channel nor pinged when it ends', async () => {
    const { clock, child, heard, told } = run();
    await clock.advance(1);
    child.exit({ code: 0 });
    await clock.advance(5_000);
    expect(heard).toEqual(['start']);
    expect(told).toEqual(['exited 0']);
  });
});
