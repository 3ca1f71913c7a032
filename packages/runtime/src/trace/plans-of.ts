/** Finds the plans with which a recorded run of a turn ran. Pure. */
import { shortDigest } from '../json/short-digest.ts';
import type { ChainRecord } from './turn-trace.ts';

/** A plan, and the parts of a run that ran with it. */
export interface PlanUse {
  /** The digest of the plan. */
  readonly plan: string;
  /** True if the turn layers were those of this plan. */
  readonly turnLayers?: true;
  /** The indexes of the steps that ran with this plan. */
  readonly steps: readonly number[];
}

/** Lists the plans of a turn chain in the order of their use. Older recordings name no plan. */
export function plansOf(turn: ChainRecord): readonly PlanUse[] {
  const uses = new Map<string, { turnLayers?: true; steps: number[] }>();
  if (turn.plan !== undefined) uses.set(turn.plan, { turnLayers: true, steps: [] });
  for (const { kind, label, plan } of turn.inside) {
    if (kind !== 'step' || plan === undefined) continue;
    const use = uses.get(plan) ?? { steps: [] };
    use.steps.push(Number(label));
    uses.set(plan, use);
  }
  return [...uses].map(([plan, use]) => ({ plan, ...use }));
}

/** Describes the uses of plans, such as `turn layers and step 0 with plan 1f3a9c2b, steps 1 and 2 with plan 77c0a1b2`. */
export function describePlans(uses: readonly PlanUse[]): string {
  return uses.map((use) => `${partsOf(use)} with plan ${shortDigest(use.plan)}`).join(', ');
}

function partsOf({ turnLayers, steps }: PlanUse): string {
  const [last, ...before] = steps.toReversed();
  const numbers = before.length === 0 ? `${last}` : `${before.toReversed().join(', ')} and ${last}`;
  const named = last === undefined ? [] : [`${before.length === 0 ? 'step' : 'steps'} ${numbers}`];
  return [...(turnLayers === true ? ['turn layers'] : []), ...named].join(' and ');
}
