import { expect, test } from 'bun:test';
import type { AgentPlan } from '../start/agent-plan.ts';
import type { PreparedChange } from '../change/agent-changes.ts';
import { PlanChanges } from './plan-changes.ts';

/** An agent that notes what happens. `prepared` lets it finish one preparation after the other. */
function noting() {
  const said: string[] = [];
  const waiting: (() => void)[] = [];
  const agent = {
    prepare: ({ agentName }: AgentPlan) =>
      new Promise<PreparedChange>((resolve) => {
        said.push(`prepare ${agentName}`);
        const swap = async () => void said.push(`swap ${agentName}`);
        // The cast is safe: a replay only swaps.
        waiting.push(() => resolve({ swap } as PreparedChange));
      }),
  };
  return { agent, said, prepared: () => waiting.shift()?.() };
}

const planOf = (agentName: string): AgentPlan => ({ agentName, models: {} });

test('each change is prepared before its step, and takes its place at that step', async () => {
  const { agent, said, prepared } = noting();
  const changes = new PlanChanges(agent, [
    { fromStep: 1, plan: planOf('b') },
    { fromStep: 2, plan: planOf('c') },
  ]);
  changes.prepareNext();
  let isReady = false;
  const ready = changes.ready.then(() => (isReady = true));
  await Promise.resolve();
  expect(isReady).toBe(false);
  prepared();
  await ready;
  changes.beforeStep(0);
  expect(said).toEqual(['prepare b']);
  changes.beforeStep(1);
  expect(said).toEqual(['prepare b', 'swap b', 'prepare c']);
  // The effects of step 1 wait until the next change is prepared.
  isReady = false;
  const again = changes.ready.then(() => (isReady = true));
  await Promise.resolve();
  expect(isReady).toBe(false);
  prepared();
  await again;
  changes.beforeStep(2);
  expect(said).toEqual(['prepare b', 'swap b', 'prepare c', 'swap c']);
});
