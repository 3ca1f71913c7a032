/**
 * Checks that the packages that a Package requires are installed, and that packages do not refer to each other in a
 * cycle.
 */
import { relative } from 'node:path';
import type { Scope } from '../bundle.ts';
import { errorIn, type Finding, warningIn } from '../bundle-problem.ts';
import { findBundlePackage } from '../files/find-package.ts';
import { resourcesOf } from '../find-resource.ts';
import { listReferring, parseReference } from '../references.ts';

export function* checkPackages(scope: Scope): Generator<Finding> {
  for (const loaded of resourcesOf(scope, 'Package')) {
    for (const [index, { name }] of (loaded.resource.spec.dependencies ?? []).entries()) {
      if (findBundlePackage(scope.folder, name) !== undefined) continue;
      const path = ['spec', 'dependencies', index, 'name'];
      yield warningIn(loaded, path, 'E_PACKAGE_MISSING', `The package "${name}" is not installed.`);
    }
  }
  yield* checkCircle(scope);
}

/** Reports a cycle at the reference that begins it. */
function* checkCircle(scope: Scope): Generator<Finding> {
  for (const referring of listReferring(scope)) {
    for (const { written, path } of referring.references) {
      const name = parseReference(written)?.package;
      const target = name === undefined ? undefined : scope.packages.get(name);
      const way = target === undefined ? undefined : findWay(target, scope);
      if (way === undefined) continue;
      const names = way.map((each) => each.package ?? (relative(scope.folder, each.folder) || 'this bundle'));
      const message = `Packages refer to each other in a circle: ${names.join(' → ')}.`;
      yield errorIn(referring, [...path, 'package'], 'E_REF_CYCLE', message);
      return;
    }
  }
}

/** Finds the shortest path from one scope to another. */
function findWay(start: Scope, goal: Scope): readonly Scope[] | undefined {
  const ways = new Map<Scope, readonly Scope[]>([[start, [goal, start]]]);
  // The loop adds to the map while iterating it.
  for (const [here, way] of ways) {
    for (const next of here.packages.values()) {
      if (next === goal) return [...way, next];
      if (!ways.has(next)) ways.set(next, [...way, next]);
    }
  }
  return undefined;
}
