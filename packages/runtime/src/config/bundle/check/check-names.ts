/** Checks that every name is declared once in its folder. */
import type { Scope } from '../bundle.ts';
import { errorAt, type Finding } from '../bundle-problem.ts';

export function* checkNames(scope: Scope): Generator<Finding> {
  const first = new Map<string, string>();
  for (const { identity, document } of scope.resources) {
    const place = document.placeOf(['metadata', 'name']);
    const before = first.get(identity);
    if (before === undefined) first.set(identity, `${place.file}:${place.line}`);
    else
      yield errorAt(place, 'E_RESOURCE_DUPLICATE', `${identity} is declared already, at ${before}.`, {
        resource: identity,
      });
  }
}
