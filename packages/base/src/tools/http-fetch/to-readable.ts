/**
 * Converts a body to text for a model: HTML is converted, text stays unchanged, and anything else becomes a short note.
 */
import { safeText } from '../../text/safe-text.ts';
import { htmlToText } from './html-to-text.ts';

/** `base` is the URL that relative links are resolved against. */
export function toReadable(
  bytes: Buffer,
  contentType: string,
  { base, isRaw }: { readonly base: URL; readonly isRaw: boolean },
): { readonly title?: string; readonly text: string } {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (!isText(type, bytes)) return { text: `[${bytes.length} bytes of ${type || 'something that is not text'}]` };
  const text = decode(bytes, parameters);
  const isHtml = type === 'text/html' || type === 'application/xhtml+xml';
  if (!isHtml || isRaw) return { text: safeText(text) };
  const { title, text: readable } = htmlToText(text, base);
  return { ...(title === '' ? {} : { title: safeText(title) }), text: safeText(readable) };
}

function isText(type: string, bytes: Buffer): boolean {
  if (
    /^text\/|[/+](?:json|xml|yaml|javascript)$|^application\/(?:x-ndjson|ld\+json|x-www-form-urlencoded)$/.test(type)
  ) {
    return true;
  }
  return type === '' && !bytes.subarray(0, 8_192).includes(0);
}

function decode(bytes: Buffer, parameters: readonly string[]): string {
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  return decoderFor(charset).decode(bytes);
}

/** Returns a decoder; an unknown charset is treated as UTF-8. */
function decoderFor(charset = 'utf-8'): { decode(bytes: Uint8Array): string } {
  try {
    // The cast is safe: the decoder throws for invalid names.
    return new TextDecoder(charset as 'utf-8');
  } catch {
    return new TextDecoder();
  }
}
