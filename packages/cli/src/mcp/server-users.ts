import type { Bundle } from '@goondan/runtime/bundle';

/**
 * Lists the agents and swarms whose `extensions` use the server, as `Agent/name` and `Swarm/name`. No code of the
 * bundle runs.
 */
export function serverUsers({ scope }: Bundle, server: string): string[] {
  return scope.resources.flatMap((loaded) => {
    if (loaded.kind !== 'Agent' && loaded.kind !== 'Swarm') return [];
    const items: readonly (string | object)[] = loaded.resource.spec.extensions ?? [];
    return items.some((item) => serverOf(item) === server) ? [loaded.identity] : [];
  });
}

/**
 * Returns the name of the server in `.mcp.json` that an item of `extensions` uses. Returns `undefined` if the item is
 * not the extension `mcp`, or has its own transport.
 */
function serverOf(item: string | object): string | undefined {
  if (typeof item === 'string') return undefined;
  // The cast is not checked, because the bundle may be invalid.
  const {
    ref = item,
    as,
    config = {},
  } = item as {
    ref?: unknown;
    as?: string;
    config?: { transport?: unknown; fromFile?: { server?: string } };
  };
  const { name, package: from } = ref as { name?: unknown; package?: unknown };
  if (name !== 'mcp' || from !== '@goondan/base' || config.transport !== undefined) return undefined;
  return config.fromFile?.server ?? as ?? 'mcp';
}
