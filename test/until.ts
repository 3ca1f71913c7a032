/**
 * The one way in which tests wait for something. A wait has a limit, and a wait that reaches its limit fails the test with the
 * condition that it waited for.
 */
export interface Wait {
  /** Milliseconds. The default is shorter than the time limit of a test, so that the test fails with this error. */
  readonly within?: number;
  /** What the test waits for, in words; the source of the condition by default. */
  readonly about?: string;
}

/** Asks until the condition returns something other than `false`, `undefined` or `null`, and returns it. */
export async function until<Value>(
  condition: () => Value | Promise<Value>,
  { within = 28_000, about = String(condition) }: Wait = {},
): Promise<Exclude<Value, false | undefined | null>> {
  const deadline = performance.now() + within;
  for (let pause = 0; ; pause = Math.min(pause + 1, 25)) {
    const value = await condition();
    // The cast is safe: the other values are the three that this line excludes.
    if (value !== false && value !== undefined && value !== null)
      return value as Exclude<Value, false | undefined | null>;
    if (performance.now() > deadline) throw new Error(`Not within ${within} ms: ${about}`);
    await Bun.sleep(pause);
  }
}
