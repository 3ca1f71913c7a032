/** Checks that every name is declared once in its folder. */
import type { Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';

export function* checkNames(scope: Scope): Generator<Finding> {
  const first = new Map<string, string>();
  for (const loaded of scope.resources) {
    const { identity, document } = loaded;
    const path = ['metadata', 'name'];
    const { file, line } = document.placeOf(path);
    const before = first.get(identity);
    if (before === undefined) first.set(identity, `${file}:${line}`);
    else yield errorIn(loaded, path, 'E_RESOURCE_DUPLICATE', `${identity} is declared already, at ${before}.`);
  }
}
