/**
 * Loads one agent in a separate process to list its parts, and ends the process: no event, no turn, no conversation.
 * But the modules of its tools and extensions do run.
 */
import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../../config/check-swarm-plan.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { AgentDescription, FromAgent } from '../../ipc/from-agent.ts';
import { systemClock, waitAtMost } from '../../ports/clock.ts';
import { type LoneAgentOptions, runLoneAgent } from './lone-agent.ts';

/** The time for extensions to clean up; after it the process is killed. */
const CLEAN_UP_MS = 5_000;

/**
 * Loads and describes one of the plan's agents. **Errors** — `E_SWARM_PLAN`, `E_AGENT_UNKNOWN`, `E_PROCESS_START` (also
 * when the agent is not ready in time), `E_CANCELLED`, and those of its start.
 */
export async function inspectAgent(
  given: SwarmPlan,
  agentName: string,
  signal?: AbortSignal,
): Promise<AgentDescription> {
  const plan = checkSwarmPlan(given);
  const agent = plan.agents.find((each) => each.agentName === agentName);
  if (agent === undefined) throw new GoondanError('E_AGENT_UNKNOWN', `There is no agent "${agentName}".`);
  return describeLoneAgent({ plan, agent, signal });
}

/**
 * Describes any agent. `hear` receives its other messages.
 *
 * **Errors** — those of `runLoneAgent`.
 */
export async function describeLoneAgent(
  options: LoneAgentOptions,
  hear: (message: FromAgent) => void = () => undefined,
): Promise<AgentDescription> {
  const { clock = systemClock } = options;
  return runLoneAgent(options, (message, process, child) => {
    if (message.type !== 'ready') {
      hear(message);
      return undefined;
    }
    const { type: _, statuses: _statuses, ...description } = message;
    process.say({ type: 'drain', graceMs: CLEAN_UP_MS });
    let code: number | null = 0;
    const exited = child.exited.then((end) => void (code = end.code));
    return waitAtMost(clock, CLEAN_UP_MS, exited).then(() => {
      if (code === 0 || code === null) return description;
      // For example, a promise was rejected without a handler. The agent would crash in its first turn.
      const problem = `The process of agent "${options.agent.agentName}" ended with code ${code} as soon as it was ready.`;
      throw new GoondanError('E_PROCESS_START', problem, { suggestion: 'The log says what it threw.' });
    });
  });
}
