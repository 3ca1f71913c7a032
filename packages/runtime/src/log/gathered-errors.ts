import { readField } from '../json/read-field.ts';

const MOST = 1_000;

/** Returns the errors inside a thrown value, such as an `AggregateError`, at most 1,000 of them. Never throws. */
export function gatheredErrors(thrown: unknown): readonly unknown[] {
  const gathered = readField(thrown, 'errors');
  try {
    return Array.isArray(gathered) ? gathered.slice(0, MOST) : [];
  } catch {
    // The value throws when it is read.
    return [];
  }
}
