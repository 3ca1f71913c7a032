/** `Agent.spec.hooks`, as a part of the config of the extension `hooks`. */
import type { JsonObject } from '@goondan/types';
import { foldCase } from '../resource-name.ts';
import { HOOKS_EXTENSION } from './base-library.ts';
import type { LoadedResourceOf, Scope } from './bundle.ts';
import { findResource } from './find-resource.ts';
import type { Path } from './place.ts';
import { configOf, listedAs, type ListItem, newNameOf, referenceOf } from './references.ts';

export interface UsedExtension {
  readonly item: ListItem;
  /** Returns the path in the agent's document of a value of the item's config. */
  readonly pathOf: (inConfig: Path) => Path;
}

/**
 * Lists the extensions of an agent. Its hooks are added to the config of the last `hooks` extension of the base library
 * that it lists, after that extension's own hooks. Without such an extension, one is added. `ofSwarm`: the extensions of
 * the swarm, whose names are taken.
 */
export function listExtensions(
  scope: Scope,
  { resource: { spec } }: LoadedResourceOf<'Agent'>,
  ofSwarm: readonly ListItem[] = [],
): UsedExtension[] {
  const items: readonly ListItem[] = spec.extensions ?? [];
  const used = items.map((item, index): UsedExtension => ({ item, pathOf: inItem(index) }));
  // Safe: a document is JSON.
  const hooks = (spec.hooks ?? []) as unknown as readonly JsonObject[];
  if (hooks.length === 0) return used;
  const base = findResource(scope, 'Extension', HOOKS_EXTENSION)?.loaded;
  const index = items.findLastIndex(
    (item) => base !== undefined && findResource(scope, 'Extension', referenceOf(item))?.loaded === base,
  );
  const listed = items[index];
  if (listed === undefined) {
    const name = chooseName([...items, ...ofSwarm]);
    const item = { ref: HOOKS_EXTENSION, config: { hooks: [...hooks] }, ...(name === undefined ? {} : { as: name }) };
    return [...used, { item, pathOf: pathInHooks(0, () => ['spec', 'hooks']) }];
  }
  const config = configOf(listed);
  const own = Array.isArray(config.hooks) ? config.hooks : [];
  const item = {
    ref: referenceOf(listed),
    as: newNameOf(listed),
    config: { ...config, hooks: [...own, ...hooks] },
  };
  return used.with(index, { item, pathOf: pathInHooks(own.length, inItem(index)) });
}

function inItem(index: number) {
  return (path: Path): Path => ['spec', 'extensions', index, 'config', ...path];
}

/** Finds the path of a hook of `spec.hooks`, which comes after `own` other hooks. Every other value is `elsewhere`. */
function pathInHooks(own: number, elsewhere: (path: Path) => Path) {
  return (path: Path): Path => {
    const [field, index, ...rest] = path;
    if (field !== 'hooks') return elsewhere(path);
    if (typeof index !== 'number') return ['spec', 'hooks'];
    return index < own ? elsewhere(path) : ['spec', 'hooks', index - own, ...rest];
  };
}

/** Returns a name that no other extension of the agent has; undefined when `hooks` is free. */
function chooseName(others: readonly ListItem[]): string | undefined {
  const taken = new Set(others.map((item) => foldCase(listedAs(item) ?? '')));
  const isFree = (name: string) => !taken.has(foldCase(`Extension/${name}`));
  if (isFree(HOOKS_EXTENSION.name)) return undefined;
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'agent-hooks' : `agent-hooks-${number}`;
    if (isFree(name)) return name;
  }
}
