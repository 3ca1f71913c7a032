import type { CodePlace } from '@goondan/types';
import type { Bundle } from './bundle.ts';
import { resourcesOf } from './find-resource.ts';
import { listReferences, parseReference } from './references.ts';

/**
 * Lists the places where the bundle itself names an npm package, in the order of its files, each with `Kind/name` of
 * the resource that names the package. Unreadable documents are skipped.
 */
export function findPackageUses({ scope }: Pick<Bundle, 'scope'>, name: string) {
  const uses: (CodePlace & { readonly resource: string })[] = [];
  for (const loaded of scope.resources) {
    for (const { written, path } of listReferences(loaded)) {
      if (parseReference(written)?.package !== name) continue;
      uses.push({ ...loaded.document.placeOf([...path, 'package']), resource: loaded.identity });
    }
  }
  for (const { resource, document, identity } of resourcesOf(scope, 'Package')) {
    for (const [index, dependency] of (resource.spec.dependencies ?? []).entries()) {
      if (dependency.name !== name) continue;
      uses.push({ ...document.placeOf(['spec', 'dependencies', index, 'name']), resource: identity });
    }
  }
  return uses;
}
