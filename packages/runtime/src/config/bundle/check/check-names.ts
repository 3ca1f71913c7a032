/** Checks that every name is declared once in its folder, and that no two names of a kind differ in case only. */
import { foldCase } from '../../resource-name.ts';
import type { LoadedResource, Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';

export function* checkNames(scope: Scope): Generator<Finding> {
  const path = ['metadata', 'name'];
  const firsts = new Map<string, LoadedResource>();
  for (const loaded of scope.resources) {
    const { identity } = loaded;
    const key = foldCase(identity);
    const first = firsts.get(key);
    if (first === undefined) {
      firsts.set(key, loaded);
      continue;
    }
    const { file, line } = first.document.placeOf(path);
    const at = `at ${file}:${line}`;
    if (first.identity === identity) {
      yield errorIn(loaded, path, 'E_RESOURCE_DUPLICATE', `${identity} is declared already, ${at}.`);
      continue;
    }
    const message = `${identity} differs from ${first.identity}, ${at}, in capital letters only.`;
    yield errorIn(loaded, path, 'E_RESOURCE_DUPLICATE', message, 'Give one of the two resources another name.');
  }
}
