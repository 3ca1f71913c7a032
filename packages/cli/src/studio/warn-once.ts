export interface StoreWarning {
  readonly path: string;
  readonly message: string;
}

/** So many different ones are told; the page asks again and again, and what is damaged stays so. */
const MOST_TOLD = 100;

/** Tells of each damaged place once. */
export function warnOnce(report: (text: string) => void): (warning: StoreWarning) => void {
  const told = new Set<string>();
  return ({ path, message }) => {
    if (told.has(path) || told.size >= MOST_TOLD) return;
    told.add(path);
    report(`${path}: ${message}\n`);
  };
}
