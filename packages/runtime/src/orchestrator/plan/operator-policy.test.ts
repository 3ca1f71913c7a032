import { expect, test } from 'bun:test';
import { operatorPolicy } from './operator-policy.ts';
import { CurrentPlan } from './current-plan.ts';

const models = { 'Model/m': { provider: 'scripted', model: 'm' } };
const plan = {
  name: 'shop',
  agents: [{ agentName: 'a', models, policy: { trace: 'on' as const } }],
  policy: { trace: 'on' as const },
};

test('the operator’s setting for traces wins, also after a reload', () => {
  const currentPlan = new CurrentPlan(plan, operatorPolicy({ GOONDAN_TRACE: 'off' }));
  expect(currentPlan.value.agents.get('a')?.policy?.trace).toBe('off');
  currentPlan.replace(plan);
  expect(currentPlan.value.agents.get('a')?.policy?.trace).toBe('off');
});

test('without a setting of the operator the plan decides: first the agent, then its swarm', () => {
  const says = (policy: object, own?: object) => {
    const agents = [{ agentName: 'a', models, ...(own === undefined ? {} : { policy: own }) }];
    return new CurrentPlan({ name: 'shop', agents, policy }, operatorPolicy({ GOONDAN_TRACE: '' })).value.agents.get(
      'a',
    )?.policy?.trace;
  };
  expect([says({}), says({ trace: 'off' }), says({ trace: 'off' }, { trace: 'on' })]).toEqual([undefined, 'off', 'on']);
});

test('rejects values other than on and off', () => {
  expect(() => operatorPolicy({ GOONDAN_TRACE: 'of' })).toThrow('GOONDAN_TRACE is "of", but must be "on" or "off"');
});
