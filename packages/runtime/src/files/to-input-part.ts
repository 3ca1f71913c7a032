/** Makes a part of an input from the bytes of a file. */
import type { InputPart } from '@goondan/types';
import { detectMediaType } from './detect-media-type.ts';

/** An image if the bytes or the name say so; otherwise a file. */
export function toInputPart(bytes: Uint8Array, filename: string, declared?: string): InputPart {
  const mediaType = detectMediaType(bytes, { mediaType: declared, filename });
  if (mediaType.startsWith('image/')) return { type: 'image', image: bytes, mediaType, filename };
  return { type: 'file', data: bytes, mediaType, filename };
}
