import { GoondanError } from '@goondan/types';
import type { TurnPolicy } from '../../config/turn-policy.ts';

/** Returns the operator's settings for turns, which win over the plan: `GOONDAN_TRACE`. **Errors** — `E_SWARM_PLAN`. */
export function operatorPolicy(environment: Readonly<Record<string, string | undefined>>): Partial<TurnPolicy> {
  const { GOONDAN_TRACE: trace = '' } = environment;
  if (trace === '') return {};
  if (trace === 'on' || trace === 'off') return { trace };
  throw new GoondanError('E_SWARM_PLAN', `The variable GOONDAN_TRACE is "${trace}", but must be "on" or "off".`, {
    suggestion: 'Set it to `off` to write no traces, or leave it unset.',
  });
}
