/** Reads a field of any value, even if reading throws. Returns `undefined` when there is no such field. */
export function readField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}
