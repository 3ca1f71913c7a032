/**
 * Says what kind of picture base64 data really is. Providers refuse a picture whose declared type is wrong, and once
 * such a picture is in the history every later call fails with it; so what the bytes say wins over what was declared.
 */
const signatures: readonly (readonly [mediaType: string, start: RegExp])[] = [
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD/],
  // "RIFF", four bytes of length, "WEBP"
  ['image/webp', /^UklGR.{6}XRUJQ/],
];

/** `undefined` when it is none of the kinds that models read. */
export function sniffImageType(base64: string): string | undefined {
  const start = base64.slice(0, 24);
  return signatures.find(([, pattern]) => pattern.test(start))?.[0];
}
