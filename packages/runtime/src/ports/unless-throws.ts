/** Returns the result of `work`, or `undefined` when `work` throws. */
export function unlessThrows<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
