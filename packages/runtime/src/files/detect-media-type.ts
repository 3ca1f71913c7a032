/** Finds the media type of a file from its bytes, its declared type and its name. */

/** The types that are detected in the bytes, each with the start of its base64 text. */
const signatures: readonly (readonly [mediaType: string, start: RegExp])[] = [
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD/],
  // "RIFF", four bytes with the length, "WEBP"
  ['image/webp', /^UklGR.{6}XRUJQ/],
];

/**
 * Detects the real type of base64 image data, or returns `undefined`. Providers reject an image whose declared type is
 * wrong, and once such an image is in the history every later call fails. So the detected type wins over the declared
 * one.
 */
export function sniffImageType(base64: string): string | undefined {
  const start = base64.slice(0, 24);
  return signatures.find(([, pattern]) => pattern.test(start))?.[0];
}

/** Returns true for the types that {@link sniffImageType} detects, and for an image of an unknown type. */
export function isPictureType(mediaType: string): boolean {
  return ['image', 'image/*'].includes(mediaType) || signatures.some(([detected]) => detected === mediaType);
}

const UNKNOWN = 'application/octet-stream';

/** The types by the ending of a file's name. Endings of source code are text, which models read as it is. */
const byEnding: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  xml: 'application/xml',
  zip: 'application/zip',
};

export interface FileFacts {
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
}

/**
 * Returns the media type: that of the bytes if it is an image, then the declared one, then that of the name's ending,
 * then `text/plain` for bytes that are text.
 */
export function detectMediaType(bytes: Uint8Array, { mediaType, filename }: FileFacts = {}): string {
  const sniffed = sniffImageType(Buffer.from(bytes.subarray(0, 18)).toString('base64'));
  if (sniffed !== undefined) return sniffed;
  if (mediaType !== undefined && mediaType !== '' && mediaType !== UNKNOWN) return mediaType;
  const ending = /\.([a-z0-9]+)$/i.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
  return known ?? (isText(bytes) ? 'text/plain' : UNKNOWN);
}

const LOOKED_AT = 8_192;

function isText(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, LOOKED_AT);
  if (start.includes(0)) return false;
  try {
    // The last character may be cut.
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}
