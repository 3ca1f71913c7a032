/**
 * Waits until `condition` returns something other than false, null or undefined, and returns that. Fails with what it
 * waited for if that takes longer than `within` milliseconds.
 */
export async function until<Value>(
  condition: () => Value | Promise<Value>,
  { within = 20_000, about }: { readonly within?: number; readonly about: string },
): Promise<Exclude<NonNullable<Value>, false>> {
  const deadline = performance.now() + within;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    const value = await condition();
    // The cast is safe: the other values were excluded.
    if (value !== undefined && value !== null && value !== false) return value as Exclude<NonNullable<Value>, false>;
    if (performance.now() > deadline) throw new Error(`Not within ${within} ms: ${about}`);
    await Bun.sleep(pause);
  }
}
