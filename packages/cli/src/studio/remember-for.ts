/**
 * What is dear to read, and seldom changes: read again only when it is older than `ms`, and whoever asks then is given the
 * old one while the new one is on its way. A read that fails is asked again next time.
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
    // Its failure is told to whoever asks when there is nothing older.
    next.catch(() => undefined);
    return known.value;
  };
}
