import type { AgentPlan } from './agent/start/agent-plan.ts';
import type { AgentDeps, RunningAgent } from './agent/start/start-agent.ts';
import { requireBun } from './ports/is-bun.ts';

/** Starts one agent in this process. **Errors** — `E_NEEDS_BUN` in Node; those of the agent's parts. */
export async function startAgent(plan: AgentPlan, deps?: AgentDeps): Promise<RunningAgent> {
  requireBun('startAgent', 'Use `startSwarm`, which starts Bun processes for its agents.');
  const agent = await import('./agent/start/start-agent.ts');
  return agent.startAgent(plan, deps);
}
