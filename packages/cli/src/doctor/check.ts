/** One thing `gdn doctor` has looked at. */
export interface Check {
  readonly name: string;
  /** `warning`: `gdn` works without it, or with less. `missing`: it does not. */
  readonly status: 'ok' | 'warning' | 'missing';
  /** What was found; never a value of a key. */
  readonly detail: string;
  /** What to do about it, when it is not `ok`. */
  readonly suggestion?: string;
}

export function ok(name: string, detail: string): Check {
  return { name, status: 'ok', detail };
}

export function warning(name: string, detail: string, suggestion: string): Check {
  return { name, status: 'warning', detail, suggestion };
}

export function missing(name: string, detail: string, suggestion: string): Check {
  return { name, status: 'missing', detail, suggestion };
}
