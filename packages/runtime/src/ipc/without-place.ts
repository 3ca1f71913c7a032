import type { CodePlace } from '@goondan/types';

/** An error for somebody who may show it to a model, or to anybody outside: where in the bundle it was thrown is left out. */
export function withoutPlace<Failure extends { readonly place?: CodePlace }>({ place: _, ...told }: Failure) {
  return told;
}
