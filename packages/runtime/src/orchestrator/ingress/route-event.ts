/**
 * Routes an event from outside.
 *
 * Invariants:
 * 1. The first matching rule decides, even if it then rejects the event: an event never falls through to a later rule.
 * 2. The instance key is the text in the rule, or the value of the property that the rule names. No other part of an
 *    event becomes a key.
 */
import type { AgentAddress, JsonObject } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { HeardEvent } from '../../ipc/from-connector.ts';
import { findKeyProblem } from '../address/find-address-problem.ts';
import type { IngressRoute, IngressRule } from '../../config/ingress-rule.ts';

export type RoutedEvent =
  | { readonly type: 'address'; readonly address: AgentAddress }
  | { readonly type: 'refusal'; readonly error: FrameError };

export function routeEvent(rules: readonly IngressRule[], event: HeardEvent, entryAgent: string): RoutedEvent {
  const rule = rules.find((candidate) => fits(candidate, event));
  if (rule === undefined) return refuse('E_INGRESS_RULE', `No ingress rule matches the event "${event.name}".`);
  const key = keyOf(rule.route, event.properties ?? {});
  if ('problem' in key)
    return refuse('E_INGRESS_KEY', `The event "${event.name}" has no instance key: ${key.problem}.`);
  return { type: 'address', address: { agentName: agentOf(rule.route, entryAgent), instanceKey: key.text } };
}

function fits({ match = {} }: IngressRule, { name, properties = {} }: HeardEvent): boolean {
  if (match.event !== undefined && match.event !== name) return false;
  return Object.entries(match.properties ?? {}).every(([property, value]) => properties[property] === value);
}

function keyOf(route: IngressRoute, properties: JsonObject): { readonly text: string } | { readonly problem: string } {
  const { instanceKey = 'default', instanceKeyProperty: property, instanceKeyPrefix: prefix = '' } = route;
  if (property === undefined) return { text: instanceKey };
  const value = properties[property];
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? `${value}` : value;
  if (typeof text !== 'string') return { problem: `its property "${property}" is neither a text nor a whole number` };
  // The value without the prefix is checked too, because an empty value with a prefix would look like a valid key.
  const problem = findKeyProblem(text) ?? findKeyProblem(prefix + text);
  return problem === undefined ? { text: prefix + text } : { problem: `its property "${property}" ${problem}` };
}

function agentOf({ agentRef }: IngressRoute, entryAgent: string): string {
  if (agentRef === undefined) return entryAgent;
  return typeof agentRef === 'string' ? agentRef.replace(/^Agent\//, '') : agentRef.name;
}

function refuse(code: FrameError['code'], message: string): RoutedEvent {
  return { type: 'refusal', error: { code, message } };
}

/** Lists the agents that a connection's rules can reach, each once, in the order of the rules. */
export function routedAgents(rules: readonly IngressRule[], entryAgent: string): readonly string[] {
  return [...new Set(rules.map(({ route }) => agentOf(route, entryAgent)))];
}
