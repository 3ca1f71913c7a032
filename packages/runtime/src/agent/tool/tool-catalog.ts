/**
 * The tools of one step or of one model call. Layers get a copy that they may change in any way. The copy is made when
 * a layer first reads it; until then, the registered items themselves are used.
 */
import { GoondanError, type ToolCatalogItem } from '@goondan/types';
import { copyJson, copyJsonObject, isJson, isPlainObject } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { readField } from '../../json/read-field.ts';
import type { Log } from '../../log/log-sink.ts';
import type { Layer } from '../pipeline/layer.ts';
import type { LayerRegistry } from '../pipeline/layer-registry.ts';
import { attachExtension, inNameOf } from '../pipeline/turn-error.ts';
import { problemWithItemFields } from './check-item-fields.ts';
import { FINISH_TOOL, LONGEST_TOOL_NAME } from '../../config/tool-name.ts';
import { toProviderName } from './provider-tool-name.ts';

export class ToolCatalog {
  /** Lists of registered tools that were checked: they are frozen, and each step of an agent offers the same list. */
  private static readonly fitting = new WeakSet<readonly ToolCatalogItem[]>();
  private changed: ToolCatalogItem[] | undefined;
  /** The layer that last read or set the copy. It made all changes that are not in `added` yet. */
  private changing: Layer | undefined;
  /** How often the catalog has each name, and the layer that added it last; undefined for tools offered from the start. */
  private added: Map<unknown, { readonly count: number; readonly by: Layer | undefined }> | undefined;
  /** The layer that made an item wrong, also an item that it did not add. */
  private wrong: Map<unknown, Layer> | undefined;

  /**
   * `offered` may be shared, because it is never changed. `owner`: the layer that made the whole list; its items are
   * checked like added ones.
   */
  constructor(
    private readonly offered: readonly ToolCatalogItem[],
    private readonly owner?: Layer,
  ) {}

  /** The catalog with the changes of the layers. */
  get items(): readonly ToolCatalogItem[] {
    return this.changed ?? this.offered;
  }

  /** Returns the copy for this layer, to read or change. */
  changeableBy(layer: Layer): ToolCatalogItem[] {
    this.noteChanges(layer);
    // Safe: items are JSON, checked when they were registered, or by `check`.
    this.changed ??= this.offered.map((item) => copyJson(item, { omitUndefined: true }) as unknown as ToolCatalogItem);
    return this.changed;
  }

  /** Replaces the catalog by the list of this layer. */
  replace(items: ToolCatalogItem[], layer: Layer): void {
    this.noteChanges(layer);
    this.changed = items;
  }

  /**
   * Checks the items. Of those that a provider would get under one name, the last is kept, at the place of the first; one
   * warning names the layer. Throws `E_TOOL_NAME` for an item that is not JSON or has no name, and for a name that is
   * empty or too long. The error has the name of the extension that added the item.
   */
  check(agent: Warned): void {
    this.noteChanges(undefined);
    const isOffered = this.changed === undefined && this.owner === undefined;
    if (isOffered && ToolCatalog.fitting.has(this.offered)) return;
    const kept = new Map<string, ToolCatalogItem>();
    const repeated: string[] = [];
    for (const item of this.items) {
      const name = this.checkItem(item);
      const providerName = toProviderName(name);
      if (kept.has(providerName)) repeated.push(name);
      kept.set(providerName, item);
    }
    if (repeated.length > 0) {
      this.changed = [...kept.values()];
      this.warnOfRepeated(repeated, agent);
    } else if (isOffered && Object.isFrozen(this.offered)) ToolCatalog.fitting.add(this.offered);
  }

  has(name: string): boolean {
    return this.items.some((item) => item.name === name);
  }

  /** Notes who added the names that are new, and who made an item wrong, before another layer gets the copy. */
  private noteChanges(next: Layer | undefined): void {
    if (next === this.changing) return;
    const by = this.changing;
    this.changing = next;
    if (by === undefined) return;
    this.added ??= new Map([...countNames(this.offered)].map(([name, count]) => [name, { count, by: this.owner }]));
    for (const [name, count] of countNames(this.changed ?? [])) {
      if (count > (this.added.get(name)?.count ?? 0)) this.added.set(name, { count, by });
    }
    for (const item of this.changed ?? []) {
      if (!isTool(item)) (this.wrong ??= new Map()).getOrInsert(item, by);
    }
  }

  private adderOf(name: unknown): Layer | undefined {
    return this.added?.get(name)?.by ?? this.owner;
  }

  private checkItem(item: ToolCatalogItem): string {
    // Registered items were checked when they were registered.
    if (this.changed === undefined && this.owner === undefined) return item.name;
    const owner = (this.wrong?.get(item) ?? this.adderOf(readField(item, 'name')))?.extension;
    const notTool = (problem: string) =>
      refusal(`${nameOwner(owner)} put something into the tool catalog that is not a tool: ${problem}.`, owner);
    const copied = copyJsonObject(item, { omitUndefined: true, refuse: ({ message }) => notTool(message) });
    const { name } = copied;
    if (typeof name !== 'string') throw notTool('it has no name');
    if (name === '') throw notTool('its name is empty');
    if (name === FINISH_TOOL) throw notTool(`the runtime has a tool called "${FINISH_TOOL}"`);
    if (name.length > LONGEST_TOOL_NAME) {
      const problem = `its name "${name.slice(0, 40)}…" has ${name.length} characters, but at most ${LONGEST_TOOL_NAME} are allowed`;
      throw notTool(problem);
    }
    const problem = problemWithItemFields(copied, name);
    if (problem === undefined) return name;
    throw owner === undefined ? problem : inNameOf(owner, problem);
  }

  private warnOfRepeated(repeated: readonly string[], { layers, log }: Warned): void {
    const event = 'catalog.repeated_tool';
    for (const [adder, tools] of Map.groupBy(repeated, (name) => this.adderOf(name))) {
      if (adder !== undefined && !layers.isFirst(event, adder)) continue;
      const names = [...new Set(tools)];
      const by =
        adder && ` The ${adder.kind} layer "${adder.name}" of extension "${adder.extension}" added the newest.`;
      const message = `The tool catalog has more than one ${names.join(', ')}.${by ?? ''} Only the last in the list is offered.`;
      log('warn', message, { event, ...defined({ extension: adder?.extension }), data: { tools: names } });
    }
  }
}

/** The parts of an agent with which a catalog warns. */
interface Warned {
  readonly layers: LayerRegistry;
  readonly log: Log;
}

function countNames(items: readonly ToolCatalogItem[]): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const item of items) {
    const name = readField(item, 'name');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function isTool(item: ToolCatalogItem): boolean {
  return isJson(item, true) && isPlainObject(item) && problemWithItemFields(item, undefined) === undefined;
}

function nameOwner(extension: string | undefined): string {
  return extension === undefined ? 'A layer' : `Extension "${extension}"`;
}

function refusal(message: string, extension: string | undefined): GoondanError {
  const error = new GoondanError('E_TOOL_NAME', message);
  if (extension !== undefined) attachExtension(error, extension);
  return error;
}
