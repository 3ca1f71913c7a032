/**
 * Detects the real type of base64 image data. Providers reject an image whose declared type is wrong, and once such an
 * image is in the history every later call fails. So the detected type wins over the declared one.
 */
const signatures: readonly (readonly [mediaType: string, start: RegExp])[] = [
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD/],
  // "RIFF", four bytes with the length, "WEBP"
  ['image/webp', /^UklGR.{6}XRUJQ/],
];

/** Returns `undefined` for a type that models do not read. */
export function sniffImageType(base64: string): string | undefined {
  const start = base64.slice(0, 24);
  return signatures.find(([, pattern]) => pattern.test(start))?.[0];
}
