/** Replaces the bytes in a part by a reference to them. */
import { type ContentPart, fileReferenceOf, GoondanError, sourceOfPart } from '@goondan/types';
import { sha256 } from '../json/sha256.ts';
import { detectMediaType } from './detect-media-type.ts';
import { decodeBase64, type FileSource, readSource } from './read-source.ts';

/** A part with a reference, and the bytes if they are not stored yet. */
export interface Referred {
  readonly part: ContentPart;
  readonly digest?: string;
  readonly bytes?: Uint8Array;
}

/** Replaces the bytes in a part by a reference. `place` names the part in errors. **Errors** — `E_FILE_INVALID`. */
export function toReference(part: ContentPart, place: string): Referred {
  if (part.type === 'text') return { part };
  const source = readSource(sourceOfPart(part));
  if (source.kind === 'url') return { part };
  if (source.kind === 'reference') return { part, digest: source.digest };
  const bytes = source.kind === 'bytes' ? decodeBase64(source) : undefined;
  if (source.kind === 'malformed' || bytes === undefined) throw notBytes(place, source);
  const digest = sha256(bytes);
  const { filename } = part;
  const mediaType = detectMediaType(bytes, { mediaType: source.mediaType ?? part.mediaType, filename });
  const facts = { mediaType, size: bytes.length };
  const reference = fileReferenceOf(digest);
  const stored =
    part.type === 'image' ? { ...part, image: reference, ...facts } : { ...part, data: reference, ...facts };
  return { part: Object.freeze(stored), digest, bytes };
}

function notBytes(place: string, source: FileSource): GoondanError {
  const problem = source.kind === 'malformed' ? source.problem : 'is not base64, a data URL or a URL';
  return new GoondanError('E_FILE_INVALID', `The input cannot be taken: ${place} ${problem}.`);
}
