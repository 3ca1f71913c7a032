/**
 * Converts a file of a message (one string: base64, a data URL or a URL) to the tagged data that providers take. A URL
 * is passed on unchanged: the provider fetches it. This process never fetches it, so a message cannot make the process
 * connect to an arbitrary address.
 */
import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import { GoondanError } from '@goondan/types';

/**
 * Converts the data. The type detected in the bytes wins over the type of the data URL, which wins over `declaredType`.
 */
export function toFileData(
  source: string,
  declaredType: string,
): { data: Extract<LanguageModelV4FilePart['data'], { type: 'data' | 'url' }>; mediaType: string } {
  if (source.startsWith('data:')) {
    const { base64, mediaType } = readDataUrl(source);
    return inlineData(base64, mediaType || declaredType);
  }
  // Base64 has no colon, so a text that has one and parses as a URL is a URL.
  const url = source.includes(':') ? URL.parse(source) : null;
  if (url !== null) return { data: { type: 'url', url }, mediaType: declaredType };
  return inlineData(source, declaredType);
}

function inlineData(base64: string, mediaType: string) {
  return { data: { type: 'data' as const, data: base64 }, mediaType: sniffImageType(base64) ?? mediaType };
}

function readDataUrl(source: string): { base64: string; mediaType: string } {
  const comma = source.indexOf(',');
  if (comma === -1) {
    throw new GoondanError(
      'E_MESSAGE_INVALID',
      `A file of a message is a data URL without data: "${source.slice(0, 60)}".`,
    );
  }
  const [mediaType = '', ...settings] = source.slice('data:'.length, comma).split(';');
  const payload = source.slice(comma + 1);
  if (settings.includes('base64')) return { base64: payload, mediaType };
  return { base64: Buffer.from(decodeURIComponent(payload)).toString('base64'), mediaType };
}

/** The media types that are detected, each with the start of its base64 data. */
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
function sniffImageType(base64: string): string | undefined {
  const start = base64.slice(0, 24);
  return signatures.find(([, pattern]) => pattern.test(start))?.[0];
}
