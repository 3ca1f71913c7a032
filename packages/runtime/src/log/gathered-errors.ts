import { readField } from '../json/read-field.ts';
import { unlessThrows } from '../ports/unless-throws.ts';

const MOST = 1_000;

/** Returns the errors inside a thrown value, such as an `AggregateError`, at most 1,000 of them. Never throws. */
export function gatheredErrors(thrown: unknown): readonly unknown[] {
  const gathered = readField(thrown, 'errors');
  // The value may throw when it is read.
  return unlessThrows(() => (Array.isArray(gathered) ? gathered.slice(0, MOST) : [])) ?? [];
}
