import { describe, expect, test } from 'bun:test';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { AgentReconcile } from '../../config/reconcile-agent.ts';
import type { ConnectionPlan, SwarmPlan } from '../../config/swarm-plan.ts';
import { noParts } from '../../testing/fake-agents.ts';
import { CurrentPlan } from '../plan/current-plan.ts';
import type { PlanChanges } from './apply-plan.ts';
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

const run = (
  plan: SwarmPlan,
  identities: string[],
  trials: Partial<Trials>,
  signal = new AbortController().signal,
  agents: PlanChanges['agents'] = new Map(),
) =>
  tryChanges(
    { changed: identities.slice(0, 1), added: identities.slice(1), agents },
    new CurrentPlan(plan).value,
    { agent: async () => noParts, connection: async () => undefined, ...trials },
    signal,
  ).then(
    () => 'ready',
    (error: unknown) => error,
  );

describe('the changes of a reload', () => {
  test('are tried: agents and connections, changed and new, and nothing else', async () => {
    const tried: string[] = [];
    const trials: Trials = {
      agent: async ({ agentName, policy }) => {
        // The trial gets the agent in the same form as a process.
        expect(policy).toHaveProperty('crashesBeforeDeadLetter');
        tried.push(agentName);
        return noParts;
      },
      connection: async (each) => void tried.push(each.connection),
    };
    expect(await run(planOf(3), ['Agent/a0', 'Agent/a2', 'Connection/chat', 'Swarm/test'], trials)).toBe('ready');
    expect(tried.toSorted()).toEqual(['a0', 'a2', 'chat']);
  });

  test('are tried one at a time', async () => {
    let [running, most, tried] = [0, 0, 0];
    const trials = {
      agent: async () => {
        most = Math.max(most, (running += 1));
        tried += 1;
        await Bun.sleep(1);
        running -= 1;
        return noParts;
      },
    };
    const names = Array.from({ length: 5 }, (_, index) => `Agent/a${index}`);
    expect(await run(planOf(5), names, trials)).toBe('ready');
    expect({ most, running, tried }).toEqual({ most: 1, running: 0, tried: 5 });
  });

  test('fail with the first part that does not start, and no more begin', async () => {
    const tried: string[] = [];
    const trials: Partial<Trials> = {
      agent: async ({ agentName }) => {
        tried.push(agentName);
        if (agentName === 'a2') throw new Error('not with long-secret-value');
        return noParts;
      },
    };
    const names = Array.from({ length: 9 }, (_, index) => `Agent/a${index}`);
    const error = await run(planOf(9), names, trials);
    expect(error).toMatchObject({ code: 'E_RELOAD_FAILED', cause: expect.any(Error) });
    expect(String(error)).toContain('Agent/a2 does not start with the changed bundle. Error: not with');
    expect(String(error)).not.toContain('long-secret-value');
    expect(tried).toEqual(['a0', 'a1', 'a2']);
  });

  test('fail without the secrets of the plan in force, which a part on trial may still know', async () => {
    const currentPlan = new CurrentPlan(planOf(1));
    const rotated = { ...planOf(1), agents: [{ ...agent('a0'), secrets: ['rotated-secret-value'] }] };
    const trials: Trials = {
      agent: () => Promise.reject(new Error('neither long-secret-value nor rotated-secret-value')),
      connection: async () => undefined,
    };
    const changes = { changed: ['Agent/a0'], added: [], agents: new Map() };
    const trial = tryChanges(changes, currentPlan.preview(rotated), trials, new AbortController().signal);
    expect(await trial.catch((error: unknown) => String(error))).toContain('neither *** nor ***');
  });

  test('end with the swarm: the next part is not tried', async () => {
    const over = new AbortController();
    const tried: string[] = [];
    const trials = {
      agent: async ({ agentName }: { agentName: string }) => {
        tried.push(agentName);
        over.abort();
        return noParts;
      },
    };
    expect(await run(planOf(2), ['Agent/a0', 'Agent/a1'], trials, over.signal)).toBe('ready');
    expect(tried).toEqual(['a0']);
  });

  test('L-01 of an agent that changes in place, only new and changed parts are tried; of another agent, all', async () => {
    const extension = (name: string) => ({
      resource: {
        apiVersion: 'goondan.ai/v1',
        kind: 'Extension',
        metadata: { name },
        spec: { entry: './x.ts' },
      } as const,
      root: '/',
    });
    const tool = (name: string) => ({ name, exports: [], root: '/', entry: './t.ts' });
    const parts = {
      extensions: ['kept', 'new', 'other'].map(extension),
      tools: ['kept', 'changed'].map(tool),
    };
    const plan = planOf(3);
    const changing = { ...plan, agents: plan.agents.map((each) => ({ ...each, ...parts })) };
    const fates: AgentReconcile = {
      parts: [
        { identity: 'Extension/kept', fate: 'retained' },
        { identity: 'Extension/new', fate: 'added' },
        { identity: 'Extension/other', fate: 'updated' },
        { identity: 'Tool/kept', fate: 'retained' },
        { identity: 'Tool/changed', fate: 'updated' },
      ],
    };
    const tried: Record<string, string[]> = {};
    const trials = {
      agent: async ({ agentName, extensions = [], tools = [] }: DeclaredAgent) => {
        tried[agentName] = [
          ...extensions.map(({ resource }) => resource.metadata.name),
          ...tools.map(({ name }) => name),
        ];
        return noParts;
      },
    };
    const agents = new Map([
      ['a0', fates],
      ['a1', { ...fates, replaces: 'its environment has changed' }],
    ]);
    const { signal } = new AbortController();
    expect(await run(changing, ['Agent/a0', 'Agent/a1', 'Agent/a2'], trials, signal, agents)).toBe('ready');
    const all = ['kept', 'new', 'other', 'kept', 'changed'];
    expect(tried).toEqual({ a0: ['new', 'other', 'changed'], a1: all, a2: all });
  });
});
