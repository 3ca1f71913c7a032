import type { Bundle } from '@goondan/runtime/bundle';

/** `Agent/name` and `Swarm/name` of those that have the server in their `extensions`. Nothing of the bundle is run. */
export function serverUsers({ scope }: Bundle, server: string): string[] {
  return scope.resources.flatMap((loaded) => {
    if (loaded.kind !== 'Agent' && loaded.kind !== 'Swarm') return [];
    const items: readonly ExtensionItem[] = loaded.resource.spec.extensions ?? [];
    return items.some((item) => serverOf(item) === server) ? [loaded.identity] : [];
  });
}

type ExtensionItem = string | object;

/** The server of `.mcp.json` that an item means; `undefined` when it is another extension, or says itself where it is. */
function serverOf(item: ExtensionItem): string | undefined {
  if (typeof item === 'string') return undefined;
  const { ref = item, as, config = {} } = item as { ref?: unknown; as?: string; config?: ServerConfig };
  const { name, package: from } = ref as { name?: unknown; package?: unknown };
  if (name !== 'mcp' || from !== '@goondan/base' || config.transport !== undefined) return undefined;
  return config.fromFile?.server ?? as ?? 'mcp';
}

/** Of the config, what says where the server is. The bundle may be invalid. */
interface ServerConfig {
  readonly transport?: unknown;
  readonly fromFile?: { readonly server?: string };
}
