import type { MiddlewareKind } from '@goondan/types';

/** All kinds of layers and chains; the compiler finds a kind that is missing here. */
const known = { turn: true, step: true, toolCall: true, model: true } satisfies Record<MiddlewareKind, true>;

// The keys of an object literal are in the order in which they are written.
export const middlewareKinds = Object.keys(known) as readonly MiddlewareKind[];

export function isMiddlewareKind(kind: unknown): kind is MiddlewareKind {
  return middlewareKinds.some((each) => each === kind);
}
