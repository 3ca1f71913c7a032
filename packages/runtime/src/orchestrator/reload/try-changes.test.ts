import { describe, expect, test } from 'bun:test';
import type { ConnectionPlan, SwarmPlan } from '../../config/swarm-plan.ts';
import { CurrentPlan } from '../plan/current-plan.ts';
import { type Trials, tryChanges } from './try-changes.ts';

const models = { 'Model/m': { provider: 'scripted', model: 'none' } };
const agent = (agentName: string) => ({ agentName, models, secrets: ['long-secret-value'] });
const connection = (name: string): ConnectionPlan => ({
  connection: name,
  connector: 'web',
  root: '/',
  entry: 'web.ts',
  config: {},
  secrets: {},
  rules: [],
});

function planOf(agents: number): SwarmPlan {
  const names = Array.from({ length: agents }, (_, index) => `a${index}`);
  return { name: 'test', agents: names.map(agent), connections: [connection('mail'), connection('chat')] };
}

const run = (plan: SwarmPlan, identities: string[], trials: Partial<Trials>, signal = new AbortController().signal) =>
  tryChanges(
    { changed: identities.slice(0, 1), added: identities.slice(1) },
    new CurrentPlan(plan).value,
    { agent: async () => undefined, connection: async () => undefined, ...trials },
    signal,
  ).then(
    () => 'ready',
    (error: unknown) => error,
  );

describe('the changes of a reload', () => {
  test('D-06 are tried: agents and connections, changed and new, and nothing else', async () => {
    const tried: string[] = [];
    const trials: Trials = {
      agent: async ({ agentName, policy }) => {
        // The trial gets the agent in the same form as a process.
        expect(policy).toHaveProperty('crashesBeforeDeadLetter');
        tried.push(agentName);
      },
      connection: async (each) => void tried.push(each.connection),
    };
    expect(await run(planOf(3), ['Agent/a0', 'Agent/a2', 'Connection/chat', 'Swarm/test'], trials)).toBe('ready');
    expect(tried.toSorted()).toEqual(['a0', 'a2', 'chat']);
  });

  test('are tried a few at a time', async () => {
    let [running, most] = [0, 0];
    const trials = {
      agent: async () => {
        most = Math.max(most, (running += 1));
        await Bun.sleep(1);
        running -= 1;
      },
    };
    const names = Array.from({ length: 30 }, (_, index) => `Agent/a${index}`);
    expect(await run(planOf(30), names, trials)).toBe('ready');
    expect({ most, running }).toEqual({ most: 4, running: 0 });
  });

  test('D-06 fail with the first part that does not start; the other trials are ended, and no more begin', async () => {
    let [begun, ended] = [0, 0];
    const trials: Partial<Trials> = {
      agent: async ({ agentName }, _plan, signal) => {
        begun += 1;
        if (agentName === 'a2') throw new Error('not with long-secret-value');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ended += 1;
        throw new Error('ended');
      },
    };
    const names = Array.from({ length: 9 }, (_, index) => `Agent/a${index}`);
    const error = await run(planOf(9), names, trials);
    expect(error).toMatchObject({ code: 'E_RELOAD_FAILED', cause: expect.any(Error) });
    expect(String(error)).toContain('Agent/a2 does not start with the changed bundle. Error: not with');
    expect(String(error)).not.toContain('long-secret-value');
    expect({ begun, ended }).toEqual({ begun: 4, ended: 3 });
  });
});
