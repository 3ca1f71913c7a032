/**
 * Caches a value that is slow to read and seldom changes. A value older than `ms` is read again; meanwhile callers get
 * the old value. If a read fails, the next call reads again.
 */
import type { Clock } from '@goondan/runtime/internal';

export function rememberFor<Value>(ms: number, read: () => Promise<Value>, clock: Clock): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; readonly at: number } | undefined;
  let next: Promise<Value> | undefined;
  return () => {
    if (known !== undefined && clock.elapsed() - known.at < ms) return known.value;
    next ??= read().then(
      (value) => {
        known = { value: Promise.resolve(value), at: clock.elapsed() };
        next = undefined;
        return value;
      },
      (error: unknown) => {
        next = undefined;
        throw error;
      },
    );
    if (known === undefined) return next;
    // Ignores a failure here, because this caller gets the old value.
    next.catch(() => undefined);
    return known.value;
  };
}
