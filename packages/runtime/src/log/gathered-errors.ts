import { readField } from '../json/read-field.ts';

const MOST = 1_000;

/** The errors that a thrown thing gathers, as an `AggregateError` does; the first 1,000 of them. Never throws. */
export function gatheredErrors(thrown: unknown): readonly unknown[] {
  const gathered = readField(thrown, 'errors');
  try {
    return Array.isArray(gathered) ? gathered.slice(0, MOST) : [];
  } catch {
    // It refuses to be looked at.
    return [];
  }
}
