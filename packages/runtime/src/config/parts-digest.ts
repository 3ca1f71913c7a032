import type { DeclaredAgent } from './declared-agent.ts';
import { digestJson } from '../json/digest-json.ts';

/**
 * Returns a hash of the modules that an agent loads. The hash includes no config value, so it may be stored. If the
 * hash has changed since an earlier start, data from that start may be out of date.
 */
export function partsDigest({ extensions = [], tools = [], agentTools = false }: DeclaredAgent): string {
  return digestJson({
    extensions: extensions.map(({ resource, tier = 'agent', digest = '' }) => [resource.metadata.name, tier, digest]),
    tools: tools.map(({ name, exports, digest = '' }) => [name, exports.map((each) => each.name), digest]),
    agentTools,
  });
}
