/** Checks that every name is declared once in its folder. */
import type { Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';

export function* checkNames(scope: Scope): Generator<Finding> {
  const path = ['metadata', 'name'];
  for (const loaded of scope.resources) {
    const { identity } = loaded;
    // If a name is declared twice, `byIdentity` has the first resource, and the others are reported.
    const first = scope.byIdentity.get(identity);
    if (first === undefined || first === loaded) continue;
    const { file, line } = first.document.placeOf(path);
    yield errorIn(loaded, path, 'E_RESOURCE_DUPLICATE', `${identity} is declared already, at ${file}:${line}.`);
  }
}
