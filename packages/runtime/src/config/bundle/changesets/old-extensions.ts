/**
 * Finds extensions for v0.10. The functions of all such extensions of an agent are sorted by priority, so the place of a
 * new one in the list and its tier would decide nothing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unlessThrows } from '../../../ports/unless-throws.ts';
import { V010_PACKAGE } from '../../v010-package.ts';
import type { Bundle, LoadedResourceOf, Scope } from '../bundle.ts';
import { agentsOf, findResource, resourcesOf } from '../find-resource.ts';
import { type ListItem, referenceOf } from '../references.ts';

/** Lists the names of the bundle's own extensions that are for v0.10. */
export function listOldExtensions({ scope }: Bundle): string[] {
  return resourcesOf(scope, 'Extension')
    .filter(isOld)
    .map(({ name }) => name);
}

/** Finds an extension for v0.10 of each agent that has one, in any swarm. Both are written as `Kind/name`. */
export function findOldExtensions({ scope }: Bundle): Map<string, string> {
  const found = new Map<string, string>();
  for (const agent of resourcesOf(scope, 'Agent')) {
    const swarms = resourcesOf(scope, 'Swarm').filter((swarm) => agentsOf(scope, swarm).includes(agent));
    const items = [agent, ...swarms].flatMap(({ resource }): readonly ListItem[] => resource.spec.extensions ?? []);
    const old = items.flatMap((item) => findOld(scope, item))[0];
    if (old !== undefined) found.set(agent.identity, old);
  }
  return found;
}

function findOld(scope: Scope, item: ListItem): string[] {
  const loaded = findResource(scope, 'Extension', referenceOf(item))?.loaded;
  return loaded !== undefined && isOld(loaded) ? [loaded.identity] : [];
}

/** The files of a package are not listed, but a package that uses the adapter depends on it. */
function isOld({ resource, folder, files = [], package: from }: LoadedResourceOf<'Extension'>): boolean {
  if (resource.spec.compat !== undefined) return true;
  const named = from === undefined ? files : ['package.json'];
  return named.some((file) => unlessThrows(() => readFileSync(join(folder, file), 'utf8'))?.includes(V010_PACKAGE));
}
