/** Maps all items in their order, at most `most` of them at a time. */
export async function mapAtMost<Item, Result>(
  most: number,
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const lanes = Array.from({ length: most }, async () => {
    for (const [index, item] of left) results[index] = await map(item);
  });
  await Promise.all(lanes);
  return results;
}
