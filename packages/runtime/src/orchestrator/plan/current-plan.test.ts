import { expect, test } from 'bun:test';
import { defaultPolicy } from '../../config/turn-policy.ts';
import { callRulesOf, cardsFor, CurrentPlan } from './current-plan.ts';

const models = { 'Model/m': { provider: 'scripted', model: 'none' } };

test('a request waits by the policy of its callee, not by that of another agent', () => {
  const { value } = new CurrentPlan({
    name: 'test',
    agents: [
      { agentName: 'first', models },
      { agentName: 'slow', models, policy: { turnTimeoutMs: 900_000 } },
      { agentName: 'busy', models, policy: { turnTimeoutMs: 900_000, queueTimeoutMs: 5_000 } },
    ],
  });
  const { timesOf } = callRulesOf(value);
  const { turnTimeoutMs } = defaultPolicy;
  expect(timesOf('first')).toEqual({ turnTimeoutMs, queueTimeoutMs: turnTimeoutMs });
  expect(timesOf('slow')).toEqual({ turnTimeoutMs: 900_000, queueTimeoutMs: 900_000 });
  expect(timesOf('busy')).toEqual({ turnTimeoutMs: 900_000, queueTimeoutMs: 5_000 });
});

test('without mayAsk an agent may call all agents, with a list those of the list, and with an empty list none', () => {
  const plan = {
    name: 'test',
    agents: [
      { agentName: 'free', models },
      { agentName: 'bound', models, mayAsk: ['free'] },
      { agentName: 'silent', models, mayAsk: [] },
    ],
  };
  const { askableBy } = callRulesOf(new CurrentPlan(plan).value);
  const [free, bound, silent] = plan.agents.map((agent) => ({
    askable: askableBy(agent.agentName),
    cards: cardsFor(plan, agent).map(({ name }) => name),
  }));
  expect(free).toEqual({ askable: ['free', 'bound', 'silent'], cards: ['free', 'bound', 'silent'] });
  expect(bound).toEqual({ askable: ['free'], cards: ['free'] });
  expect(silent).toEqual({ askable: [], cards: [] });
});
