import type { ErrorCode } from './error-catalogue.ts';

/** `homepage` of this package's `package.json`, below which the docs are published. A test compares the two. */
export const homepage: string | undefined = undefined;

/** Returns the address of the page about a code; `undefined` while the docs are not published. */
export function helpUrlOf(code: ErrorCode, site: string | undefined = homepage): string | undefined {
  if (site === undefined) return undefined;
  const folder = site.replace(/[?#].*$/, '').replace(/\/*$/, '/');
  return new URL(`docs/errors.md#${code.toLowerCase()}`, folder).href;
}
