/** The result of one check of `gdn doctor`. */
export interface Check {
  readonly name: string;
  /** `warning`: `gdn` works, perhaps without some of its functions. `missing`: `gdn` does not work. */
  readonly status: 'ok' | 'warning' | 'missing';
  /** The result in words; never contains the value of a key. */
  readonly detail: string;
  /** How to fix the problem; absent when the status is `ok`. */
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
