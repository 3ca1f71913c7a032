import { readField } from '../json/read-field.ts';
import { CodeOwners } from '../log/code-owners.ts';
import { gatheredErrors } from '../log/gathered-errors.ts';
import { unlessThrows } from '../ports/unless-throws.ts';

/**
 * Describes in one line why a module of a bundle cannot be loaded. If there are several errors, describes the first.
 * Paths are relative to `root`.
 */
export function loadProblem(thrown: unknown, root: string): string {
  // Bun collects the syntax errors of a module in one error, whose own message only says how many there are.
  const errors = gatheredErrors(thrown);
  const [first, ...more] = errors.length > 0 ? errors : [thrown];
  const message = readField(first, 'message');
  const text = typeof message === 'string' ? message : describe(first);
  return `${new CodeOwners([root]).shorten(text)}${more.length === 0 ? '' : ` (and ${more.length} more)`}`;
}

/** Returns the suggestion that an author gave a thrown error, so that an error about it keeps it. */
export function suggestionOf(thrown: unknown): { readonly suggestion?: string } {
  const suggestion = readField(thrown, 'suggestion');
  return typeof suggestion === 'string' && suggestion !== '' ? { suggestion } : {};
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  // The thrown value may throw when its fields are read.
  return unlessThrows(() => JSON.stringify(thrown)) ?? 'something was thrown';
}
