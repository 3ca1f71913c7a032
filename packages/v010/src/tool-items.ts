/** Converts tools between the catalog of v0.10 and ours. */
import type { ToolCatalogItem } from '@goondan/types';
import { resultError } from './compat-error.ts';
import type { OldToolItem } from './old-types.ts';

export function toOldItem({ name, description, parameters }: ToolCatalogItem): OldToolItem {
  const schema = parameters === undefined ? {} : { parameters };
  return { name, description, ...schema, tool: null, export: null, source: { type: 'static' } };
}

/**
 * Returns the tools for the runtime. `before`: the tools that the runtime offered, whose annotations are kept. The fields
 * `tool`, `export` and `source` of v0.10 are only for extensions.
 */
export function toNewItems(items: readonly OldToolItem[], before: readonly ToolCatalogItem[]): ToolCatalogItem[] {
  const annotations = new Map(before.map((item) => [item.name, item.annotations]));
  return items.map(({ name, description = '', parameters }) => {
    const kept = annotations.get(name);
    return {
      name,
      description,
      ...(parameters === undefined ? {} : { parameters }),
      ...(kept === undefined ? {} : { annotations: kept }),
    };
  });
}

export function checkItems(items: unknown, extension: string, point: string): void {
  if (!Array.isArray(items)) throw resultError(extension, point, 'toolCatalog is not an array of tools');
  for (const item of items as unknown[]) {
    const { name, description } = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>;
    if (typeof name !== 'string' || name === '')
      throw resultError(extension, point, 'a tool in toolCatalog has no name');
    if (description !== undefined && typeof description !== 'string') {
      throw resultError(extension, point, `the description of tool "${name}" is not a text`);
    }
  }
}
