import { describe, expect, test } from 'bun:test';
import { agentLanguage } from '../ipc/codec.ts';
import type { FromAgent } from '../ipc/from-agent.ts';
import type { ToAgent } from '../ipc/to-agent.ts';
import { fakeSpawn } from './fake-spawn.ts';

const request = { name: 'agent a/default', runner: 'main.ts', frameFolder: '/frames' };

describe('a child without a process', () => {
  test('talks over a channel and ends like a process', async () => {
    const { spawn, children } = fakeSpawn<ToAgent, FromAgent>();
    const child = spawn(agentLanguage, request);
    const heard: string[] = [];
    child.channel.onMessage(({ type }) => heard.push(type));
    child.channel.onClose(() => heard.push('closed'));
    const [fake] = children;
    fake?.channel.onMessage((message) => {
      if (message.type === 'ping')
        void fake.channel.send({ type: 'pong', n: message.n }).then(() => fake.exit({ code: 3 }));
    });
    await child.channel.send({ type: 'ping', n: 1 });
    expect(await child.exited).toEqual({ code: 3, signal: null, leftBehind: 0 });
    expect(heard).toEqual(['pong', 'closed']);
    expect(fake?.request).toBe(request);
  });

  test('ends when it is killed, or does what the test says', async () => {
    const { spawn, children } = fakeSpawn<ToAgent, FromAgent>();
    expect(await spawn(agentLanguage, request).kill(7)).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(children[0]?.kills).toEqual([7]);
    const polite = fakeSpawn<ToAgent, FromAgent>({ onKill: (child) => child.exit({ code: 0 }) });
    expect(await polite.spawn(agentLanguage, request).kill(7)).toMatchObject({ code: 0, signal: null });
  });

  test('has its own number, and its start may fail', () => {
    const { spawn } = fakeSpawn<ToAgent, FromAgent>({
      beforeSpawn: ({ name }) => {
        if (name === 'refused') throw new Error('no more');
      },
    });
    expect(spawn(agentLanguage, request).pid).not.toBe(spawn(agentLanguage, request).pid);
    expect(() => spawn(agentLanguage, { ...request, name: 'refused' })).toThrow('no more');
  });
});
