import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import fc from 'fast-check';
import type { DeclaredAgent } from './declared-agent.ts';
import { describeChanges, planReconcile } from './plan-reconcile.ts';
import type { ConnectionPlan, SwarmPlan } from './swarm-plan.ts';

function agent(agentName: string, more: Partial<DeclaredAgent> = {}): DeclaredAgent {
  return { agentName, models: { 'Model/a': { provider: 'scripted', model: 'a' } }, ...more };
}

function connection(name: string, more: Partial<ConnectionPlan> = {}): ConnectionPlan {
  return {
    connection: name,
    connector: 'web',
    root: '/b',
    entry: './web.ts',
    config: {},
    secrets: {},
    rules: [],
    ...more,
  };
}

function extension(name: string, digest: string) {
  const resource = {
    apiVersion: 'goondan.ai/v1',
    kind: 'Extension',
    metadata: { name },
    spec: { entry: './x.ts' },
  } as const;
  return { resource, root: '/b', digest };
}

const tool = (config: JsonObject) => ({ name: 't', exports: [], root: '/b', entry: './t.ts', config });

const plan = (agents: DeclaredAgent[], more: Partial<SwarmPlan> = {}): SwarmPlan => ({
  name: 'default',
  agents,
  ...more,
});

describe('the changes from one plan to another', () => {
  test('L-01 reordering alone changes nothing', () => {
    const before = plan([agent('a'), agent('b')], { connections: [connection('x'), connection('y')] });
    const after = plan([agent('b'), agent('a')], { connections: [connection('y'), connection('x')] });
    expect(planReconcile(before, after)).toEqual({
      kept: ['Agent/a', 'Agent/b', 'Connection/x', 'Connection/y', 'Swarm/default'],
      changed: [],
      added: [],
      removed: [],
    });
  });

  test('L-01 names the changed, added and removed parts, and nothing else', () => {
    const before = plan([agent('a'), agent('b'), agent('c')], { connections: [connection('x')] });
    const after = plan([agent('c'), agent('d'), agent('a', { systemPrompt: 'new' })], {
      connections: [connection('x')],
    });
    expect(planReconcile(before, after)).toEqual({
      kept: ['Agent/c', 'Connection/x', 'Swarm/default'],
      changed: ['Agent/a'],
      added: ['Agent/d'],
      removed: ['Agent/b'],
    });
  });

  const [one, two] = [extension('one', '1'), extension('two', '2')];

  test.each<[string, Partial<DeclaredAgent>, Partial<DeclaredAgent>]>([
    ['its prompt', {}, { systemPrompt: 'x' }],
    ['its model', {}, { models: { 'Model/a': { provider: 'scripted', model: 'b' } } }],
    ['its environment', {}, { environment: { A: '1' } }],
    ['an extension', {}, { extensions: [one] }],
    ['the code of an extension', { extensions: [one, two] }, { extensions: [one, { ...two, digest: '3' }] }],
    ['another order of its extensions', { extensions: [one, two] }, { extensions: [two, one] }],
    ['a tool', {}, { tools: [tool({})] }],
    ['the config of a tool', { tools: [tool({ a: 1 })] }, { tools: [tool({ a: 2 })] }],
  ])('L-01 an agent is changed by %s', (_what, before, after) => {
    const running = plan([agent('a', before)]);
    expect(planReconcile(running, plan([agent('a', structuredClone(before))])).changed).toEqual([]);
    expect(planReconcile(running, plan([agent('a', after)])).changed).toEqual(['Agent/a']);
  });

  test("L-01 the swarm's own fields are compared as a separate part", () => {
    const before = plan([agent('a'), agent('b')], { entryAgent: 'a' });
    const after = plan([agent('a'), agent('b')], { entryAgent: 'b', policy: { maxProcesses: 2 } });
    expect(planReconcile(before, after)).toMatchObject({ kept: ['Agent/a', 'Agent/b'], changed: ['Swarm/default'] });
  });

  test('L-01 for any two plans, each part is in exactly one list', () => {
    const agents = fc.uniqueArray(
      fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), prompt: fc.constantFrom('x', 'y') }),
      { selector: ({ name }) => name },
    );
    fc.assert(
      fc.property(agents, agents, (before, after) => {
        const toPlan = (list: typeof before) =>
          plan(list.map(({ name, prompt }) => agent(name, { systemPrompt: prompt })));
        const { kept, changed, added, removed } = planReconcile(toPlan(before), toPlan(after));
        const names = new Set([...before, ...after].map(({ name }) => `Agent/${name}`)).add('Swarm/default');
        expect([...kept, ...changed, ...added, ...removed].toSorted()).toEqual([...names].toSorted());
        expect(added).toEqual(
          after
            .map(({ name }) => `Agent/${name}`)
            .filter((name) => !before.some((each) => `Agent/${each.name}` === name))
            .toSorted(),
        );
      }),
    );
  });
});

test('describes changes for people', () => {
  const nothing = { kept: ['Agent/a'], changed: [], added: [], removed: [] };
  expect(describeChanges(nothing)).toBe('Nothing has changed.');
  expect(describeChanges({ ...nothing, changed: ['Agent/b', 'Swarm/s'], removed: ['Connection/c'] })).toBe(
    'Reloaded: changed Agent/b, Swarm/s; removed Connection/c; 1 kept.',
  );
});
