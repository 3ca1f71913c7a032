/** A field of anything: of what was thrown, or of an object that throws when it is looked at. `undefined` when there is none. */
export function readField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}
