/** The agents that a connection's rules can reach, each once, in the order of the rules. */
import type { IngressRule } from '../../config/ingress-rule.ts';
import { agentOf } from './route-event.ts';

export function routedAgents(rules: readonly IngressRule[], entryAgent: string): readonly string[] {
  return [...new Set(rules.map(({ route }) => agentOf(route, entryAgent)))];
}
