/**
 * Decides within one turn which new message replaced which removed messages. Changes by one extension in one step are
 * grouped. In a group, a removed message was replaced by the last `replace` before its removal, or else by the first
 * `replace` after it. If the group has no `replace` but exactly one appended message, the appended message replaced the
 * removed ones. All other removed messages were only removed.
 */
import type { ArchivedEvent } from '../archive/read-archive.ts';
import type { HistoryEntry } from './history-entry.ts';

export class ReplacementGroups {
  /** Groups by extension and step. */
  readonly #groups = new Map<
    string,
    {
      /** Replacements in order, each with the number of removals before it. */
      readonly replacements: { readonly entry: HistoryEntry; readonly removedBefore: number }[];
      readonly appended: HistoryEntry[];
      removed: HistoryEntry[];
    }
  >();

  brought(change: ArchivedEvent, entry: HistoryEntry): void {
    const group = this.#groupOf(change);
    if (change.event.type === 'append') group?.appended.push(entry);
    else group?.replacements.push({ entry, removedBefore: group.removed.length });
  }

  removed(change: ArchivedEvent, entry: HistoryEntry): void {
    this.#groupOf(change)?.removed.push(entry);
  }

  /** Notes that the message with this id is back, so that nothing has replaced it. */
  cameBack(id: string): void {
    for (const group of this.#groups.values()) group.removed = group.removed.filter((gone) => gone.message.id !== id);
  }

  /**
   * Returns the pairs of a new and a replaced message. Call it at the end of a turn, or where reading stops within a
   * turn.
   */
  settle(): readonly { readonly by: HistoryEntry; readonly gone: HistoryEntry }[] {
    return [...this.#groups.values()].flatMap(({ replacements, appended, removed }) =>
      removed.flatMap((gone, index) => {
        const replacement = replacements.findLast(({ removedBefore }) => removedBefore <= index) ?? replacements[0];
        const by = replacement?.entry ?? (appended.length === 1 ? appended[0] : undefined);
        return by === undefined || by === gone ? [] : [{ by, gone }];
      }),
    );
  }

  /**
   * Finds the group of a change. Only changes by extensions have a group. Other authors never replace a message: the
   * runtime only removes messages, and all others only append.
   */
  #groupOf({ author, stepId }: ArchivedEvent) {
    if (author.kind !== 'extension') return undefined;
    const key = JSON.stringify([author.name, stepId]);
    const group = this.#groups.get(key) ?? { replacements: [], appended: [], removed: [] };
    this.#groups.set(key, group);
    return group;
  }
}
