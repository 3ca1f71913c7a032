/** Reads the one string with which a part names its image or file. */
import { digestOfReference } from '@goondan/types';

/** `bytes`: base64 that is not decoded yet, and the number of its bytes. */
export type FileSource =
  | { readonly kind: 'reference'; readonly digest: string }
  | { readonly kind: 'url' }
  | { readonly kind: 'bytes'; readonly base64: string; readonly size: number; readonly mediaType?: string }
  | { readonly kind: 'malformed'; readonly problem: string };

export function readSource(source: string): FileSource {
  const digest = digestOfReference(source);
  if (digest !== undefined) return { kind: 'reference', digest };
  if (source.startsWith('blob:')) return { kind: 'malformed', problem: 'is not a reference to a stored file' };
  if (source.startsWith('data:')) return readDataUrl(source);
  // Base64 has no colon, so a text that has one and parses as a URL is a URL.
  if (source.slice(0, LONGEST_SCHEME).includes(':') && URL.canParse(source)) return { kind: 'url' };
  return inline(source, undefined);
}

/** Decodes base64. Returns `undefined` if it is not valid. */
export function decodeBase64({ base64, size }: Extract<FileSource, { kind: 'bytes' }>): Uint8Array | undefined {
  // The decoder skips characters that are not base64.
  if (!/^[\w+/-]*={0,2}$/.test(base64)) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length === size ? bytes : undefined;
}

const LONGEST_SCHEME = 64;

function inline(text: string, mediaType: string | undefined): FileSource {
  const base64 = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text;
  const digits = base64.endsWith('==') ? base64.length - 2 : base64.endsWith('=') ? base64.length - 1 : base64.length;
  return {
    kind: 'bytes',
    base64,
    size: Math.floor((digits * 3) / 4),
    ...(mediaType !== undefined && mediaType !== '' && { mediaType }),
  };
}

function readDataUrl(source: string): FileSource {
  const comma = source.indexOf(',');
  if (comma === -1) return { kind: 'malformed', problem: `is a data URL without data: "${source.slice(0, 60)}"` };
  const [mediaType = '', ...settings] = source.slice('data:'.length, comma).split(';');
  const payload = source.slice(comma + 1);
  if (settings.includes('base64')) return inline(payload, mediaType);
  try {
    return inline(Buffer.from(decodeURIComponent(payload)).toString('base64'), mediaType);
  } catch {
    return { kind: 'malformed', problem: 'is a data URL whose data is not percent-encoded' };
  }
}
