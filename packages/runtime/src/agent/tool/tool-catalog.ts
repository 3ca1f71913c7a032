/**
 * The tools of one step, or of one model call. Layers get a copy they may change in any way, made when one first asks;
 * while none does, the registered items themselves are used.
 */
import { GoondanError, type ToolCatalogItem } from '@goondan/types';
import { copyJson } from '../../json/copy-json.ts';

export class ToolCatalog {
  private changed: ToolCatalogItem[] | undefined;

  /** `offered` may be shared: it is never changed. */
  constructor(private readonly offered: readonly ToolCatalogItem[]) {}

  /** As the layers left it. */
  get items(): readonly ToolCatalogItem[] {
    return this.changed ?? this.offered;
  }

  /** For layers, to read or change. */
  get changeable(): ToolCatalogItem[] {
    // Items are JSON: they were checked when they were registered.
    this.changed ??= this.offered.map((item) => copyJson(item) as unknown as ToolCatalogItem);
    return this.changed;
  }

  set changeable(items: ToolCatalogItem[]) {
    this.changed = items;
  }

  /** Throws `E_TOOL_NAME` when a layer put something in that has no name. */
  check(): void {
    if (this.changed === undefined) return;
    for (const item of this.changed) {
      const name: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'name') : undefined;
      if (typeof name === 'string') continue;
      throw new GoondanError('E_TOOL_NAME', 'A layer put something into ctx.toolCatalog that has no name.');
    }
  }

  has(name: string): boolean {
    return this.items.some((item) => item.name === name);
  }
}
