import type { AgentAddress } from '@goondan/types';

/**
 * Formats instances for people, in order. If all have the same instance key, the key is shown once.
 *
 * @example 'coder → reviewer → coder (instance "default")'
 */
export function formatCallers(chain: readonly AgentAddress[]): string {
  const keys = new Set(chain.map(({ instanceKey }) => instanceKey));
  const [key, ...others] = keys;
  if (key === undefined) return '';
  if (others.length > 0) {
    return chain.map(({ agentName, instanceKey }) => `${agentName} ${quote(instanceKey)}`).join(' → ');
  }
  return `${chain.map(({ agentName }) => agentName).join(' → ')} (instance ${quote(key)})`;
}

/** Describes a circle of instances that wait for each other. */
export function describeCircle(circle: readonly AgentAddress[]): string {
  return `A request that could never be answered, because each of these would wait for the next: ${formatCallers(circle)}.`;
}

/**
 * Quotes a key from outside. Control characters are escaped, and long keys are cut, because a message may list sixteen
 * keys.
 */
function quote(key: string): string {
  return JSON.stringify(key.length > LONGEST_SHOWN ? `${key.slice(0, LONGEST_SHOWN)}…` : key);
}

const LONGEST_SHOWN = 64;
