export interface StoreWarning {
  readonly path: string;
  readonly message: string;
}

/** The most different warnings that are reported; the page asks again and again, and damage stays. */
const MOST_TOLD = 100;

/** Reports each damaged place once. */
export function warnOnce(report: (text: string) => void): (warning: StoreWarning) => void {
  const told = new Set<string>();
  return ({ path, message }) => {
    if (told.has(path) || told.size >= MOST_TOLD) return;
    told.add(path);
    report(`${path}: ${message}\n`);
  };
}
