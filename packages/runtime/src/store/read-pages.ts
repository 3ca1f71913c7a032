import type { InstancePage, StoredInstance } from './cluster-store.ts';

/** The most instances of the store that a list has, and those that are read at once. */
const MOST_STORED = 10_000;
const PAGE = 1_000;

/** Reads a list of instances page by page. */
export async function readPages(
  read: (page: Pick<InstancePage, 'most' | 'after'>) => Promise<readonly StoredInstance[]>,
): Promise<readonly StoredInstance[]> {
  const found: StoredInstance[] = [];
  while (found.length < MOST_STORED) {
    const page = await read({ most: PAGE, after: found.at(-1) });
    found.push(...page);
    if (page.length < PAGE) break;
  }
  return found;
}
