/**
 * Which new message stands for which that went, within one turn. The changes of one extension in one step belong
 * together: what it removed was replaced by what it put in with `replace`, the last before it or else the first; where it
 * replaced nothing and appended one message, by that. Everything else was just removed.
 */
import type { ArchivedEvent } from '../archive/read-archive.ts';

type Change = Pick<ArchivedEvent, 'author' | 'stepId' | 'event'>;

interface Group<Entry> {
  /** In the order in which they came, with how many had been removed before. */
  readonly replacements: { readonly entry: Entry; readonly removedBefore: number }[];
  readonly appended: Entry[];
  readonly removed: Entry[];
}

export class ReplacementGroups<Entry> {
  /** By extension and step. */
  readonly #groups = new Map<string, Group<Entry>>();

  brought(change: Change, entry: Entry): void {
    const group = this.#groupOf(change);
    if (change.event.type === 'append') group?.appended.push(entry);
    else group?.replacements.push({ entry, removedBefore: group.removed.length });
  }

  removed(change: Change, entry: Entry): void {
    this.#groupOf(change)?.removed.push(entry);
  }

  /** When the turn is over, or nobody wants to see more of it. */
  settle(): readonly { readonly by: Entry; readonly gone: Entry }[] {
    return [...this.#groups.values()].flatMap(({ replacements, appended, removed }) =>
      removed.flatMap((gone, index) => {
        const replacement = replacements.findLast(({ removedBefore }) => removedBefore <= index) ?? replacements[0];
        const by = replacement?.entry ?? (appended.length === 1 ? appended[0] : undefined);
        return by === undefined || by === gone ? [] : [{ by, gone }];
      }),
    );
  }

  /** Nobody else puts something in the place of what was there: the runtime only takes away, all others only append. */
  #groupOf({ author, stepId }: Change): Group<Entry> | undefined {
    if (author.kind !== 'extension') return undefined;
    const key = JSON.stringify([author.name, stepId]);
    const group = this.#groups.get(key) ?? { replacements: [], appended: [], removed: [] };
    this.#groups.set(key, group);
    return group;
  }
}
