/** `Agent.spec.isolation`: whether the conversations of an agent have a process each, or share processes. */
import type { DeclaredAgent } from './declared-agent.ts';

/** The default of `maxInstances`. */
export const MOST_SHARED = 200;
/** The largest valid `maxInstances`. A crash interrupts every conversation of a process, so the number is bounded. */
export const LARGEST_SHARE = 1_000;

/** Returns how many conversations may share a process; 1 when each has a process of its own. */
export function mostInstancesOf({
  isolation,
  maxInstances = MOST_SHARED,
}: Pick<DeclaredAgent, 'isolation' | 'maxInstances'>): number {
  return isolation === 'agent' ? maxInstances : 1;
}
