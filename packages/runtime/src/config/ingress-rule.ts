/** The ingress rules of a Connection resource, in order. */
import type { JsonPrimitive } from '@goondan/types';

export interface IngressRule {
  /** An event must match all of these conditions; without conditions, every event matches. */
  readonly match?: {
    readonly event?: string;
    readonly properties?: Readonly<Record<string, JsonPrimitive>>;
  };
  readonly route: IngressRoute;
}

/**
 * The target of an event. Set `instanceKey`, or `instanceKeyProperty` with an optional prefix; if neither is set, the
 * key is `default`.
 */
export interface IngressRoute {
  /** `Agent/name`; the swarm's entry agent when absent. */
  readonly agentRef?: string | { readonly kind: string; readonly name: string };
  readonly instanceKey?: string;
  /** The property of the event whose value is the key. */
  readonly instanceKeyProperty?: string;
  /** A prefix for the property's value. */
  readonly instanceKeyPrefix?: string;
}
