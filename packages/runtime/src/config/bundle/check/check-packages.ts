/**
 * Checks packages: those that a Package requires must be installed, and packages must not refer to each other in a
 * cycle.
 */
import { relative } from 'node:path';
import type { Scope } from '../bundle.ts';
import { errorAt, type Finding, warningAt } from '../bundle-problem.ts';
import { findBundlePackage } from '../files/find-package.ts';
import { resourcesOf } from '../find-resource.ts';
import { listReferring, parseReference } from '../references.ts';

export function* checkPackages(scope: Scope): Generator<Finding> {
  for (const { resource, document, identity } of resourcesOf(scope, 'Package')) {
    for (const [index, { name }] of (resource.spec.dependencies ?? []).entries()) {
      if (findBundlePackage(scope.folder, name) !== undefined) continue;
      const place = document.placeOf(['spec', 'dependencies', index, 'name']);
      yield warningAt(place, 'E_PACKAGE_MISSING', `The package "${name}" is not installed.`, { resource: identity });
    }
  }
  yield* checkCircle(scope);
}

/** Reports a cycle at the reference that begins it. */
function* checkCircle(scope: Scope): Generator<Finding> {
  for (const { identity, document, references } of listReferring(scope)) {
    for (const { written, path } of references) {
      const name = parseReference(written)?.package;
      const target = name === undefined ? undefined : scope.packages.get(name);
      const way = target === undefined ? undefined : findWay(target, scope);
      if (way === undefined) continue;
      const names = way.map((each) => each.package ?? (relative(scope.folder, each.folder) || 'this bundle'));
      const message = `Packages refer to each other in a circle: ${names.join(' → ')}.`;
      yield errorAt(document.placeOf([...path, 'package']), 'E_REF_CYCLE', message, { resource: identity });
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
