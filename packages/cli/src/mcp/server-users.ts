import type { Bundle } from '@goondan/runtime/bundle';

/**
 * Lists `Agent/name` and `Swarm/name` of the resources that have the server in their `extensions`. No code of the
 * bundle runs.
 */
export function serverUsers({ scope }: Bundle, server: string): string[] {
  return scope.resources.flatMap((loaded) => {
    if (loaded.kind !== 'Agent' && loaded.kind !== 'Swarm') return [];
    const items: readonly ExtensionItem[] = loaded.resource.spec.extensions ?? [];
    return items.some((item) => serverOf(item) === server) ? [loaded.identity] : [];
  });
}

type ExtensionItem = string | object;

/**
 * Returns the server of `.mcp.json` that an item names; `undefined` for another extension, or one with its own
 * transport.
 */
function serverOf(item: ExtensionItem): string | undefined {
  if (typeof item === 'string') return undefined;
  const { ref = item, as, config = {} } = item as { ref?: unknown; as?: string; config?: ServerConfig };
  const { name, package: from } = ref as { name?: unknown; package?: unknown };
  if (name !== 'mcp' || from !== '@goondan/base' || config.transport !== undefined) return undefined;
  return config.fromFile?.server ?? as ?? 'mcp';
}

/** The part of the config that locates the server. The bundle may be invalid. */
interface ServerConfig {
  readonly transport?: unknown;
  readonly fromFile?: { readonly server?: string };
}
