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

/**
 * Quotes a key from outside. Control characters are escaped, and long keys are cut, because a message may list sixteen
 * keys.
 */
function quote(key: string): string {
  return JSON.stringify(key.length > LONGEST_SHOWN ? `${key.slice(0, LONGEST_SHOWN)}…` : key);
}

const LONGEST_SHOWN = 64;
