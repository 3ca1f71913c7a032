import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import fc from 'fast-check';
import type { DeclaredAgent } from './declared-agent.ts';
import { describeChanges, planReconcile } from './plan-reconcile.ts';
import { reconcileAgent } from './reconcile-agent.ts';
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

  test.each([
    ['its prompt', agent('a', { systemPrompt: 'x' })],
    ['its model', agent('a', { models: { 'Model/a': { provider: 'scripted', model: 'b' } } })],
    ['an extension', agent('a', { extensions: [extension('log', '1')] })],
    ['its environment', agent('a', { environment: { A: '1' } })],
    ['a tool', agent('a', { tools: [tool({})] })],
  ])('L-01 an agent is changed by %s', (_what, changed) => {
    expect(planReconcile(plan([agent('a')]), plan([changed])).changed).toEqual(['Agent/a']);
  });

  const withExtensions = (...extensions: ReturnType<typeof extension>[]) => plan([agent('a', { extensions })]);
  const [one, two] = [extension('one', '1'), extension('two', '2')];

  test('L-01 an agent is changed by the code of its extensions', () => {
    const running = withExtensions(one, two);
    expect(planReconcile(running, withExtensions(one, two)).changed).toEqual([]);
    expect(planReconcile(running, withExtensions(one, { ...two, digest: '3' })).changed).toEqual(['Agent/a']);
  });

  test('L-01 another order of the extensions changes the agent, and retains each extension', () => {
    const [before, after] = [withExtensions(one, two), withExtensions(two, one)];
    expect(planReconcile(before, after).changed).toEqual(['Agent/a']);
    const [running = expect.unreachable()] = before.agents;
    const [wanted = expect.unreachable()] = after.agents;
    expect(reconcileAgent(running, wanted).parts.map(({ identity, fate }) => `${identity} ${fate}`)).toEqual([
      'Extension/two retained',
      'Extension/one retained',
    ]);
  });

  test('L-01 an agent is changed by the config of its tools', () => {
    const of = (config: JsonObject) => plan([agent('a', { tools: [tool(config)] })]);
    expect(planReconcile(of({ a: 1 }), of({ a: 1 })).changed).toEqual([]);
    expect(planReconcile(of({ a: 1 }), of({ a: 2 })).changed).toEqual(['Agent/a']);
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
