import { GoondanError, type ToolCatalogItem } from '@goondan/types';

/** The names in a step's catalog, as its layers left it. */
export function offeredNames(catalog: readonly ToolCatalogItem[]): ReadonlySet<string> {
  return new Set(catalog.map(nameOf));
}

function nameOf(item: unknown): string {
  const name = typeof item === 'object' && item !== null && 'name' in item ? item.name : undefined;
  if (typeof name === 'string') return name;
  throw new GoondanError('E_TOOL_NAME', 'A layer put something into ctx.toolCatalog that has no name.');
}
