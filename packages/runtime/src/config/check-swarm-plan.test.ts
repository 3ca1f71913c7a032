import { describe, expect, test } from 'bun:test';
import { checkSwarmPlan } from './check-swarm-plan.ts';
import type { SwarmPlan } from './swarm-plan.ts';

const models = { 'Model/m': { provider: 'scripted', model: 'm' } };
const plan: SwarmPlan = { name: 'shop', agents: [{ agentName: 'clerk', models }] };
const connection = {
  connection: 'web',
  connector: 'http',
  root: '.',
  entry: 'x.ts',
  config: {},
  secrets: {},
  rules: [{ route: {} }],
};

const clerkWith = (more: object) => ({ agents: [{ agentName: 'clerk', models, ...more }] });
const exclusiveTool = { name: 'port', root: '.', entry: 'x.ts', exports: [], exclusive: true } as const;

describe('a plan', () => {
  test('a valid plan comes back as a copy', () => {
    const whole: SwarmPlan = {
      ...plan,
      entryAgent: 'clerk',
      connections: [{ ...connection, rules: [{ route: { agentRef: 'Agent/clerk' } }] }],
      policy: { maxProcesses: 1, spares: 0, restart: { quickCrashes: 0 }, idle: { hibernateAfterSeconds: null } },
    };
    expect(checkSwarmPlan(whole)).toEqual(whole);
    expect(checkSwarmPlan(whole)).not.toBe(whole);
  });

  test.each<[Partial<SwarmPlan>, string]>([
    [{ name: 'My Shop' }, '"My Shop" is not a name for a swarm'],
    [{ agents: [] }, 'it has no agent'],
    [{ agents: [{ agentName: '../x', models }] }, '"../x" is not a name for an agent'],
    [{ agents: [...plan.agents, ...plan.agents] }, 'two agents are called "clerk"'],
    [
      { agents: [...plan.agents, { agentName: 'Clerk', models }] },
      'the agents "clerk" and "Clerk" differ in capital letters only',
    ],
    [{ policy: { spares: 17 } }, 'policy.spares is 17, but must be at most 16'],
    [{ agents: [{ agentName: 'clerk', models: {} }] }, 'agent "clerk" has no model'],
    [
      clerkWith({ isolation: 'agent', maxInstances: 1_001 }),
      '`maxInstances` of agent "clerk" is 1001, but must be an integer from 1 to 1000',
    ],
    [clerkWith({ isolation: 'swarm' }), '`isolation` of agent "clerk" is "swarm", but must be "agent" or absent'],
    [
      clerkWith({ isolation: 'agent', tools: [exclusiveTool] }),
      'conversations of agent "clerk" cannot share a process, because Tool/port is exclusive',
    ],
    [
      clerkWith({ output: { schema: { nope: 1 } } }),
      'agent "clerk": The answer cannot be demanded: in its schema, the value has the unknown keyword "nope"',
    ],
    [clerkWith({ modelRef: 'Model/x' }), 'agent "clerk" has no Model/x'],
    [
      clerkWith({ mayAsk: ['clerc'] }),
      'agent "clerk" may ask "clerc", which the swarm does not have (did you mean "clerk"?)',
    ],
    [clerkWith({ mayAsk: [7] }), 'agent "clerk" may ask 7, which the swarm does not have'],
    [clerkWith({ mayAsk: 'clerk' }), '`mayAsk` of agent "clerk" is not a list of names'],
    [{ entryAgent: 'boss' }, 'its entry agent "boss" is not one of its agents'],
    [{ connections: [{ ...connection, connection: 'My Web' }] }, '"My Web" is not a name for a connection'],
    [{ connections: [connection, connection] }, 'two connections are called "web"'],
    [{ connections: [{ ...connection, rules: [] }] }, 'connection "web" has no ingress rule'],
    [
      { connections: [{ ...connection, rules: [{ route: { agentRef: { kind: 'Agent', name: 'boss' } } }] }] },
      'a rule of connection "web" names the agent "boss", which the swarm does not have',
    ],
    [{ policy: { maxProcesses: 0 } }, 'policy.maxProcesses is 0, but must be a number of at least 1'],
    [{ policy: { maxProcesses: '3' as never } }, 'policy.maxProcesses is "3", but must be a number of at least 1'],
    [{ policy: { restart: { baseMs: -1 } } }, 'policy.restart.baseMs is -1, but must be a number of at least 0'],
    [{ policy: { heartbeat: { everyMs: 0 } } }, 'policy.heartbeat.everyMs is 0, but must be a number of at least 1'],
    [{ policy: { shutdown: { gracePeriodSeconds: -1 } } }, 'policy.shutdown.gracePeriodSeconds is -1'],
    [{ policy: { idle: { hibernateAfterSeconds: -1 } } }, 'policy.idle.hibernateAfterSeconds is -1'],
    [{ policy: { changes: { approve: 'no' as never } } }, 'policy.changes.approve is "no", but must be true or false'],
    [{ policy: { changes: { allow: 'x' as never } } }, 'policy.changes.allow is not a list of globs'],
    [{ policy: { changes: { allow: ['../x'] } } }, '"../x" in policy.changes.allow contains `..`'],
    [{ policy: { maxProcesses: NaN } }, 'a plan is JSON, but policy.maxProcesses is NaN'],
    [clerkWith({ params: { f: () => 1 } }), 'a plan is JSON, but agents[0].params.f'],
  ])('is rejected: %#', (change, problem) => {
    const check = () => checkSwarmPlan({ ...plan, ...change });
    expect(check).toThrow(problem);
    expect(check).toThrow(expect.objectContaining({ code: 'E_SWARM_PLAN' }));
  });

  test('with several problems has all of them in its error', () => {
    expect(() => checkSwarmPlan({ name: '', agents: [], entryAgent: 'x' })).toThrow(
      'The swarm cannot be started: "" is not a name for a swarm; it has no agent; its entry agent "x" is not one of its agents.',
    );
  });
});
