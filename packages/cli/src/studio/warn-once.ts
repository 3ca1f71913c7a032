import type { DurableStoreOptions } from '@goondan/runtime/history';

/** The maximum number of damaged files and folders that are reported. */
const MOST_TOLD = 100;

/** Reports each damaged file or folder only once, because the page reads them again and again. */
export function warnOnce(report: (text: string) => void): NonNullable<DurableStoreOptions['warn']> {
  const told = new Set<string>();
  return ({ path, message }) => {
    if (told.has(path) || told.size >= MOST_TOLD) return;
    told.add(path);
    report(`${path}: ${message}\n`);
  };
}
