import { type AgentAddress, GoondanError } from '@goondan/types';
import { agentDigest } from '../../config/agent-digest.ts';
import { defaultPolicy } from '../../config/turn-policy.ts';
import { readDemand } from '../../json/read-demand.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import { modelSource } from '../model-call/open-model.ts';
import type { ModelDeps } from '../model/model-port.ts';
import type { PlanInForce } from '../turn-state/agent-parts.ts';
import type { AgentPlan } from './agent-plan.ts';
import { describeSelf } from './describe-self.ts';

/**
 * Opens the fields of a plan that a change exchanges. The model of the steps is opened now, so that a bad script or a
 * missing key fails the start or the change, not a turn. `before`: the plan before this one, whose unchanged models stay
 * open.
 */
export async function openPlan(
  plan: AgentPlan,
  address: AgentAddress,
  deps: Omit<ModelDeps, 'openUpstream'>,
  before?: PlanInForce,
): Promise<PlanInForce> {
  const openModel = modelSource(plan.models, deps, before?.openModel);
  const modelRef = plan.modelRef ?? Object.keys(plan.models)[0];
  if (modelRef === undefined) throw new GoondanError('E_MODEL_UNKNOWN', `Agent "${plan.agentName}" has no model.`);
  await openModel(modelRef);
  let digest: string | undefined;
  return {
    described: describeSelf(plan, address, modelRef),
    // Only the secrets of this plan count, so that the digest is the same in every process.
    digest: () => (digest ??= agentDigest(plan, maskSecrets(plan.secrets ?? []))),
    systemPrompt: plan.systemPrompt,
    modelRef,
    params: plan.params ?? {},
    output: plan.output && readDemand(plan.output),
    policy: { ...defaultPolicy, ...plan.policy },
    openModel,
  };
}
