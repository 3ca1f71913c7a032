/** The requests of a run that were already written, so that later requests refer to them. */
import type { ToolCatalogItem } from '@goondan/types';
import { isSameOrigin, type PartOrigin } from './part-origins.ts';

const MOST_ASKERS = 8;

/** The first `count` messages of the request that is recorded under the key `effect`. */
type SharedBeginning = { readonly effect: string; readonly count: number };

export class WrittenRequests {
  /** The text of each part, as a short digest: parts with the same fields in another order make another body. */
  readonly parts = new Map<string, string>();
  /** The texts of immutable parts, so that each is made once. */
  readonly forms = new WeakMap<object, string>();
  /** The last list of tools, if it cannot change. */
  tools?: readonly ToolCatalogItem[];
  readonly #origins = new Map<string, PartOrigin | undefined>();
  /**
   * The newest request of each asker, with the digests of its messages. An asker is an extension, or undefined for the
   * steps. The asker with the oldest request comes first.
   */
  readonly #newest = new Map<
    string | undefined,
    { readonly effect: string; readonly digests: readonly string[]; readonly count: number }
  >();

  /**
   * Finds the request of a step or of the same asker whose first messages have the most in common with these digests;
   * undefined when not even the first message is the same. Equal messages of another extension have another author.
   */
  closest(asker: string | undefined, digests: readonly string[]): SharedBeginning | undefined {
    let found: SharedBeginning | undefined;
    for (const [other, { effect, digests: before, count: most }] of this.#newest) {
      if (other !== undefined && other !== asker) continue;
      const count = countSame(before, digests, most);
      if (count > (found?.count ?? 0)) found = { effect, count };
    }
    return found;
  }

  /**
   * Adds a request, in place of the asker's last one. If an extension makes a request between two steps, the request of
   * the first step is still there, so the second step need not list its whole conversation again.
   */
  add(asker: string | undefined, effect: string, digests: readonly string[]): void {
    this.#newest.delete(asker);
    // The list may grow with the next request.
    this.#newest.set(asker, { effect, digests, count: digests.length });
    const [silent] = this.#newest.keys();
    if (this.#newest.size > MOST_ASKERS) this.#newest.delete(silent);
  }

  /** Returns the origins that are not written yet, by digest. Equal parts with several origins have none. */
  newOrigins(
    all: readonly (readonly [digest: string, origin: PartOrigin | undefined])[],
  ): Record<string, PartOrigin | null> {
    const certain = new Map<string, PartOrigin | undefined>();
    for (const [digest, origin] of all) {
      const isCertain = !certain.has(digest) || isSameOrigin(certain.get(digest), origin);
      certain.set(digest, isCertain ? origin : undefined);
    }
    const found: Record<string, PartOrigin | null> = {};
    for (const [digest, origin] of certain) {
      if (isSameOrigin(this.#origins.get(digest), origin)) continue;
      this.#origins.set(digest, origin);
      found[digest] = origin ?? null;
    }
    return found;
  }
}

/** Counts the digests that are the same at the beginning: at most `most`, the number that counts in `before`. */
function countSame(before: readonly string[], now: readonly string[], most: number): number {
  const longest = Math.min(most, now.length);
  if (before === now) return longest;
  let count = 0;
  while (count < longest && now[count] === before[count]) count += 1;
  return count;
}
