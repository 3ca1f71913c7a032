import type { DurableStoreOptions } from '@goondan/runtime/history';

/** The maximum number of different warnings that are reported. The page reads repeatedly, and damage stays. */
const MOST_TOLD = 100;

/** Reports each damaged file or place only once. */
export function warnOnce(report: (text: string) => void): NonNullable<DurableStoreOptions['warn']> {
  const told = new Set<string>();
  return ({ path, message }) => {
    if (told.has(path) || told.size >= MOST_TOLD) return;
    told.add(path);
    report(`${path}: ${message}\n`);
  };
}
