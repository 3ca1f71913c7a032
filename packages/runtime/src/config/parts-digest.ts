import type { DeclaredAgent } from './declared-agent.ts';
import { planDigest } from './plan-digest.ts';

/**
 * Returns a hash of the modules an agent loads. No value of a config is in it, so it may be written down. Another hash
 * means that data from an earlier start may be out of date.
 */
export function partsDigest({ extensions = [], tools = [], agentTools = false }: DeclaredAgent): string {
  return planDigest({
    extensions: extensions.map(({ resource, tier = 'agent', digest = '' }) => [resource.metadata.name, tier, digest]),
    tools: tools.map(({ name, exports, digest = '' }) => [name, exports.map((each) => each.name), digest]),
    agentTools,
  });
}
