import { unlessThrows } from '../ports/unless-throws.ts';

/** Reads a field of any value, even if reading throws. Returns `undefined` when there is no such field. */
export function readField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? unlessThrows(() => Reflect.get(value, name)) : undefined;
}
