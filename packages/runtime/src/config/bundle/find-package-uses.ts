import type { CodePlace } from '@goondan/types';
import type { Bundle } from './bundle.ts';
import { findResource, packageOf, resourcesOf } from './find-resource.ts';
import { listReferences, parseReference } from './references.ts';

/**
 * Lists the places where the bundle itself refers to an npm package, in the order of its files, each with `Kind/name` of
 * the referring resource. A reference that finds its resource in the base library refers to that package, too. Unreadable documents are skipped.
 */
export function findPackageUses({ scope }: Pick<Bundle, 'scope'>, name: string) {
  const uses: (CodePlace & { readonly resource: string })[] = [];
  for (const loaded of scope.resources) {
    for (const { kind, written, path } of listReferences(loaded)) {
      const reference = parseReference(written);
      if (reference === undefined || packageOf(scope, reference) !== name) continue;
      const isNamed = reference.package !== undefined;
      if (!isNamed && findResource(scope, kind, written) === undefined) continue;
      uses.push({ ...loaded.document.placeOf(isNamed ? [...path, 'package'] : path), resource: loaded.identity });
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
