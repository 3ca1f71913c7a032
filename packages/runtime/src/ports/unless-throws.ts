/** Returns the result of `work`, or `undefined` when it throws. */
export function unlessThrows<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
