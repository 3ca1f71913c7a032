import { expect, test } from 'bun:test';
import { defaultPolicy } from '../../config/turn-policy.ts';
import { callRulesOf, CurrentPlan } from './current-plan.ts';

const models = { 'Model/m': { provider: 'scripted', model: 'none' } };

test('F-01 a request waits by the policy of its callee, not by that of another agent', () => {
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
