/** A part of an input at the doors of a swarm, where its bytes are not stored yet. */
import type { ContentPart, FilePart, ImagePart, TextPart } from './model-message.ts';

/** A {@link ContentPart} whose bytes may also be a `Uint8Array`. The media type is detected when it is absent. */
export type InputPart =
  | TextPart
  | (Omit<ImagePart, 'image'> & { image: string | Uint8Array })
  | (Omit<FilePart, 'data' | 'mediaType'> & { data: string | Uint8Array; mediaType?: string });

/** Converts bytes to base64, so that the part is JSON. */
export function toContentPart(part: InputPart): ContentPart {
  if (part.type === 'image') return { ...part, image: toText(part.image) };
  if (part.type === 'file') return { ...part, data: toText(part.data), mediaType: part.mediaType ?? UNKNOWN_TYPE };
  return part;
}

/** The media type of a file about which nothing is known. It is detected when the file is stored. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** Any other value is left for the check of the part, because a program in JavaScript may pass anything. */
function toText(source: string | Uint8Array): string {
  if (!(source instanceof Uint8Array)) return source;
  return Buffer.from(source.buffer, source.byteOffset, source.length).toString('base64');
}
