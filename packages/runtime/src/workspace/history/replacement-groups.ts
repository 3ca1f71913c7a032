/**
 * Decides within one turn which new message replaced which removed ones. The changes of one extension in one step
 * belong together. Removed messages were replaced by the last `replace` before the removal, or else by the first one.
 * If the extension replaced nothing and appended exactly one message, that message replaced them. All other removed
 * messages were just removed.
 */
import type { ArchivedEvent } from '../archive/read-archive.ts';

type Change = Pick<ArchivedEvent, 'author' | 'stepId' | 'event'>;

interface Group<Entry> {
  /** In order, each with the number of removals before it. */
  readonly replacements: { readonly entry: Entry; readonly removedBefore: number }[];
  readonly appended: Entry[];
  readonly removed: Entry[];
}

export class ReplacementGroups<Entry> {
  /** Groups by extension and step. */
  readonly #groups = new Map<string, Group<Entry>>();

  brought(change: Change, entry: Entry): void {
    const group = this.#groupOf(change);
    if (change.event.type === 'append') group?.appended.push(entry);
    else group?.replacements.push({ entry, removedBefore: group.removed.length });
  }

  removed(change: Change, entry: Entry): void {
    this.#groupOf(change)?.removed.push(entry);
  }

  /** Returns the pairs at the end of a turn, or at the end of the part that is read. */
  settle(): readonly { readonly by: Entry; readonly gone: Entry }[] {
    return [...this.#groups.values()].flatMap(({ replacements, appended, removed }) =>
      removed.flatMap((gone, index) => {
        const replacement = replacements.findLast(({ removedBefore }) => removedBefore <= index) ?? replacements[0];
        const by = replacement?.entry ?? (appended.length === 1 ? appended[0] : undefined);
        return by === undefined || by === gone ? [] : [{ by, gone }];
      }),
    );
  }

  /**
   * Finds the group of an extension's change. Only extensions replace messages: the runtime only removes, and all other
   * authors only append.
   */
  #groupOf({ author, stepId }: Change): Group<Entry> | undefined {
    if (author.kind !== 'extension') return undefined;
    const key = JSON.stringify([author.name, stepId]);
    const group = this.#groups.get(key) ?? { replacements: [], appended: [], removed: [] };
    this.#groups.set(key, group);
    return group;
  }
}
