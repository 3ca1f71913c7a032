/**
 * The tools of one step or of one model call. Layers get a copy that they may change in any way. The copy is made when
 * a layer first reads it; until then, the registered items themselves are used.
 */
import { GoondanError, type ToolCatalogItem } from '@goondan/types';
import { copyJson, copyJsonObject } from '../../json/copy-json.ts';
import { readField } from '../../json/read-field.ts';
import { attachExtension } from '../pipeline/turn-error.ts';
import { problemWithItemFields } from './check-item-fields.ts';
import { FINISH_TOOL } from '../../config/tool-name.ts';
import { toProviderName } from './provider-tool-name.ts';

/** The maximum length of the name of an item that a layer adds. */
const LONGEST_NAME = 128;

export class ToolCatalog {
  /** Lists of registered tools that were checked: they are frozen, and each step of an agent offers the same list. */
  private static readonly fitting = new WeakSet<readonly ToolCatalogItem[]>();
  private changed: ToolCatalogItem[] | undefined;
  /** The extension that last read or set the copy. It made all changes that are not in `owners` yet. */
  private changing: string | undefined;
  /** The extension that added each name; undefined for names that were offered from the start. */
  private owners: Map<unknown, string | undefined> | undefined;

  /**
   * `offered` may be shared, because it is never changed. `owner`: the extension that made the whole list; its items are
   * checked like added ones.
   */
  constructor(
    private readonly offered: readonly ToolCatalogItem[],
    private readonly owner?: string,
  ) {}

  /** The catalog with the changes of the layers. */
  get items(): readonly ToolCatalogItem[] {
    return this.changed ?? this.offered;
  }

  /** Returns the copy for a layer of this extension, to read or change. */
  changeableBy(extension: string): ToolCatalogItem[] {
    this.noteChanges(extension);
    // Safe: items are JSON, checked when they were registered, or by `check`.
    this.changed ??= this.offered.map((item) => copyJson(item, { omitUndefined: true }) as unknown as ToolCatalogItem);
    return this.changed;
  }

  /** Replaces the catalog by the list of a layer of this extension. */
  replace(items: ToolCatalogItem[], extension: string): void {
    this.noteChanges(extension);
    this.changed = items;
  }

  /**
   * Throws `E_TOOL_NAME` for an item that is not JSON or has no name, for a name that is empty or too long, and for two
   * names that are the same name for a provider. The error has the name of the extension that added the item.
   */
  check(): void {
    this.noteChanges(undefined);
    const isOffered = this.changed === undefined && this.owner === undefined;
    if (isOffered && ToolCatalog.fitting.has(this.offered)) return;
    this.checkAll();
    if (isOffered && Object.isFrozen(this.offered)) ToolCatalog.fitting.add(this.offered);
  }

  private checkAll(): void {
    // The runtime adds its own tool after the last layer.
    const names = new Map<string, string>([[toProviderName(FINISH_TOOL), FINISH_TOOL]]);
    for (const item of this.items) {
      const name = this.checkItem(item);
      const providerName = toProviderName(name);
      const alike = names.get(providerName) ?? name;
      if (alike !== name) throw this.refuseAlike(alike, name, providerName);
      names.set(providerName, name);
    }
  }

  has(name: string): boolean {
    return this.items.some((item) => item.name === name);
  }

  /** Notes who added the names that are new, before another extension gets the copy. */
  private noteChanges(next: string | undefined): void {
    if (next === this.changing) return;
    if (this.changing !== undefined) {
      this.owners ??= new Map(this.offered.map((item) => [readField(item, 'name'), undefined]));
      for (const item of this.changed ?? []) {
        const name = readField(item, 'name');
        if (!this.owners.has(name)) this.owners.set(name, this.changing);
      }
    }
    this.changing = next;
  }

  private ownerOf(name: unknown): string | undefined {
    return this.owners?.get(name) ?? this.owner;
  }

  private checkItem(item: ToolCatalogItem): string {
    // Registered items were checked when they were registered.
    if (this.changed === undefined && this.owner === undefined) return item.name;
    const owner = this.ownerOf(readField(item, 'name'));
    const notTool = (problem: string) =>
      refusal(`${nameOwner(owner)} put something into the tool catalog that is not a tool: ${problem}.`, owner);
    const copied = copyJsonObject(item, { omitUndefined: true, refuse: ({ message }) => notTool(message) });
    const { name } = copied;
    if (typeof name !== 'string') throw notTool('it has no name');
    if (name === '') throw notTool('its name is empty');
    if (name === FINISH_TOOL) throw notTool(`the runtime has a tool called "${FINISH_TOOL}"`);
    if (name.length > LONGEST_NAME) {
      const problem = `its name "${name.slice(0, 40)}…" has ${name.length} characters, but at most ${LONGEST_NAME} are allowed`;
      throw notTool(problem);
    }
    const problem = problemWithItemFields(copied, name);
    if (problem === undefined) return name;
    if (owner !== undefined) attachExtension(problem, owner);
    throw problem;
  }

  private refuseAlike(first: string, second: string, providerName: string): GoondanError {
    const [name, other] = this.ownerOf(second) === undefined ? [second, first] : [first, second];
    const owner = this.ownerOf(other);
    const message = `Providers get the tools "${name}" and "${other}" under the same name, "${providerName}"`;
    const added = owner === undefined ? '' : `; ${nameOwner(owner)} added "${other}"`;
    return refusal(`${message}${added}.`, owner, 'Rename one of the two tools.');
  }
}

function nameOwner(extension: string | undefined): string {
  return extension === undefined ? 'A layer' : `Extension "${extension}"`;
}

function refusal(message: string, extension: string | undefined, suggestion?: string): GoondanError {
  const error = new GoondanError('E_TOOL_NAME', message, suggestion === undefined ? {} : { suggestion });
  if (extension !== undefined) attachExtension(error, extension);
  return error;
}
