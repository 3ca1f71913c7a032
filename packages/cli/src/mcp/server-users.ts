import type { Bundle } from '@goondan/runtime/bundle';
import { BASE_LIBRARY, configOf, findResource, newNameOf, referenceOf } from '@goondan/runtime/internal';

/**
 * Lists the agents and swarms whose `extensions` use the server, as `Agent/name` and `Swarm/name`. No code of the
 * bundle runs.
 */
export function serverUsers({ scope }: Bundle, server: string): string[] {
  return scope.resources.flatMap((loaded) => {
    if (loaded.kind !== 'Agent' && loaded.kind !== 'Swarm') return [];
    const items = loaded.resource.spec.extensions ?? [];
    return items.some((item) => serverOf(scope, item) === server) ? [loaded.identity] : [];
  });
}

/**
 * Returns the name of the server in `.mcp.json` that an item of `extensions` uses. Returns `undefined` if the item is
 * not the extension `mcp`, or has its own transport.
 */
function serverOf(scope: Bundle['scope'], item: Parameters<typeof referenceOf>[0]): string | undefined {
  const used = findResource(scope, 'Extension', referenceOf(item))?.loaded;
  if (used?.name !== 'mcp' || used.package !== BASE_LIBRARY) return undefined;
  // The cast is not checked, because the bundle may be invalid.
  const config = configOf(item) as { transport?: unknown; fromFile?: { server?: string } };
  if (config.transport !== undefined) return undefined;
  return config.fromFile?.server ?? newNameOf(item) ?? 'mcp';
}
