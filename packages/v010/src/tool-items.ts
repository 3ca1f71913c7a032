/** Converts tools between the catalog of v0.10 and ours. */
import type { RuntimeView, ToolCatalogItem } from '@goondan/types';
import { resultError } from './compat-error.ts';
import type { OldToolItem } from './old-types.ts';

/** Returns the tools as v0.10 shows them: one that the bundle declares is static, all others are dynamic. */
export function toOldItems(items: readonly ToolCatalogItem[], { tools }: RuntimeView): OldToolItem[] {
  const registered = new Map(tools.map((tool) => [tool.name, tool]));
  return items.map(({ name, description, parameters }) => {
    const schema = parameters === undefined ? {} : { parameters };
    const known = registered.get(name);
    const source: OldToolItem['source'] =
      known !== undefined && known.extension === undefined
        ? { type: 'static' }
        : { type: 'dynamic', ...(known?.extension === undefined ? {} : { extension: known.extension }) };
    return { name, description, ...schema, tool: null, export: null, source };
  });
}

/** Adds the fields of v0.10 that functions gave to the items of these names. */
export function withOldFields(items: readonly OldToolItem[], given: readonly OldToolItem[]): OldToolItem[] {
  const known = new Map(given.map((item) => [item.name, item]));
  return items.map((item) => {
    const { name: _, description: _description, parameters: _parameters, ...fields } = known.get(item.name) ?? item;
    return { ...item, ...fields };
  });
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

const SHAPE =
  'A tool is `{ name, description, parameters }`. `parameters` is a JSON Schema; without it, the model gets a tool without one.';

export function checkItems(items: unknown, extension: string, point: string): void {
  const refuse = (problem: string) => resultError(extension, point, problem, SHAPE);
  if (!Array.isArray(items)) throw refuse('toolCatalog is not an array of tools');
  for (const item of items as unknown[]) {
    const fields = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>;
    const { name, description, parameters } = fields;
    if (typeof name !== 'string' || name === '') throw refuse('a tool in toolCatalog has no name');
    if (description !== undefined && typeof description !== 'string') {
      throw refuse(`the description of tool "${name}" is not a text`);
    }
    if (
      parameters !== undefined &&
      (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
    ) {
      throw refuse(`the parameters of tool "${name}" are not a JSON Schema object`);
    }
  }
}
