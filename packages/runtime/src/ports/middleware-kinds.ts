import type { MiddlewareKind } from '@goondan/types';

/** All kinds of layers and chains. If a kind is missing here, the compiler reports it. */
const known = { turn: true, step: true, toolCall: true, model: true } satisfies Record<MiddlewareKind, true>;

// Safe: the keys of an object literal keep their order.
export const middlewareKinds = Object.keys(known) as readonly MiddlewareKind[];

export function isMiddlewareKind(kind: unknown): kind is MiddlewareKind {
  return middlewareKinds.some((each) => each === kind);
}
