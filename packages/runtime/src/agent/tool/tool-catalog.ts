/**
 * The tools of one step or of one model call. Layers get a copy that they may change in any way. The copy is made when
 * a layer first reads it; until then, the registered items themselves are used.
 */
import { GoondanError, type ToolCatalogItem } from '@goondan/types';
import { copyJson, copyJsonObject } from '../../json/copy-json.ts';

export class ToolCatalog {
  private changed: ToolCatalogItem[] | undefined;

  /** `offered` may be shared, because it is never changed. */
  constructor(private readonly offered: readonly ToolCatalogItem[]) {}

  /** The catalog with the changes of the layers. */
  get items(): readonly ToolCatalogItem[] {
    return this.changed ?? this.offered;
  }

  /** The copy for layers, to read or change. */
  get changeable(): ToolCatalogItem[] {
    // Safe: items are JSON, checked when they were registered, or by `check`.
    this.changed ??= this.offered.map((item) => copyJson(item, { omitUndefined: true }) as unknown as ToolCatalogItem);
    return this.changed;
  }

  set changeable(items: ToolCatalogItem[]) {
    this.changed = items;
  }

  /** Throws `E_TOOL_NAME` when a layer added an item that has no name or is not JSON. */
  check(): void {
    for (const item of this.changed ?? []) checkItem(item);
  }

  has(name: string): boolean {
    return this.items.some((item) => item.name === name);
  }
}

function checkItem(item: unknown): void {
  const { name } = copyJsonObject(item, { omitUndefined: true, refuse: ({ message }) => noTool(message) });
  if (typeof name !== 'string') throw noTool('it has no name');
}

function noTool(problem: string): GoondanError {
  return new GoondanError('E_TOOL_NAME', `A layer put something into ctx.toolCatalog that is not a tool: ${problem}.`);
}
