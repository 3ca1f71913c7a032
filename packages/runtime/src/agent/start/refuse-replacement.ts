import { GoondanError } from '@goondan/types';
import { findReasons } from '../../config/reconcile-agent.ts';
import { declaredParts } from '../change/match-parts.ts';
import type { AgentPlan } from './agent-plan.ts';

/** Throws `E_RELOAD_FAILED` if only another process can take the wanted plan. */
export function refuseReplacement(running: AgentPlan, wanted: AgentPlan): void {
  const [reason] = findReasons(comparable(running), comparable(wanted));
  if (reason === undefined) return;
  throw new GoondanError('E_RELOAD_FAILED', `Agent "${wanted.agentName}" cannot change in this process: ${reason}.`, {
    suggestion: 'Start the agent again with the new plan.',
  });
}

function comparable({ tools = [], extensions = [], ...plan }: AgentPlan) {
  return { ...plan, ...declaredParts([...tools, ...extensions]) };
}
