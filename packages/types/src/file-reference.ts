/**
 * References to stored files. The bytes of a file are stored once, under their SHA-256, outside of the conversation. A
 * part of a message has the reference `blob:sha256-<64 hexadecimal digits>` in place of the bytes.
 */
import type { FilePart, ImagePart } from './model-message.ts';

const PREFIX = 'blob:sha256-';
const REFERENCE = /^blob:sha256-([0-9a-f]{64})$/;

/** Makes the reference to the bytes with this SHA-256. */
export function fileReferenceOf(digest: string): string {
  return `${PREFIX}${digest}`;
}

/** Returns the SHA-256 of the bytes that a reference names; `undefined` for any other text. */
export function digestOfReference(source: string): string | undefined {
  return REFERENCE.exec(source)?.[1];
}

/** Returns the image or the file of a part: a reference, a URL, or bytes as text. */
export function sourceOfPart(part: ImagePart | FilePart): string {
  return part.type === 'image' ? part.image : part.data;
}

/** Describes an image or a file for people: `[image cat.png, 12 KB]`. */
export function describeFile(part: ImagePart | FilePart): string {
  const { filename, size } = part;
  const isImage = part.type === 'image' || part.mediaType.startsWith('image');
  const name = filename ?? (isImage ? undefined : part.mediaType);
  const facts = [isImage ? 'image' : 'file', ...(name === undefined ? [] : [name])].join(' ');
  return `[${facts}${size === undefined ? '' : `, ${describeSize(size)}`}]`;
}

const KILOBYTE = 1_024;

function describeSize(bytes: number): string {
  if (bytes < KILOBYTE) return `${bytes} B`;
  const kilobytes = bytes / KILOBYTE;
  return kilobytes < KILOBYTE ? `${round(kilobytes)} KB` : `${round(kilobytes / KILOBYTE)} MB`;
}

function round(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value));
}
