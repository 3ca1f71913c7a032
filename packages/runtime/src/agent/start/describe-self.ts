import type { AgentAddress, RuntimeView } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import type { AgentPlan } from './agent-plan.ts';

/** Describes the agent and its model for `ctx.runtime`, without secrets: the key and the endpoint are left out. */
export function describeSelf(
  { description, models }: AgentPlan,
  { agentName: name, instanceKey }: AgentAddress,
  modelRef: string,
): Pick<RuntimeView, 'agent' | 'model'> {
  const agent = Object.freeze(defined({ name, instanceKey, description }));
  const { provider, model } = Object(models[modelRef]) as { provider?: unknown; model?: unknown };
  const isNamed = typeof provider === 'string' && typeof model === 'string';
  return { agent, model: Object.freeze({ ref: modelRef, ...(isNamed && { provider, name: model }) }) };
}
