/**
 * Checks the parts of an input, and their sizes, before anything of them is stored. It decodes nothing, so
 * that a refused input costs little.
 */
import { type ContentPart, describeFile, GoondanError, sourceOfPart } from '@goondan/types';
import { copyJsonObject, isPlainObject, type NotJson } from '../json/copy-json.ts';
import { readSource } from './read-source.ts';

export interface FileLimits {
  /** The maximum number of bytes of one file. */
  readonly maxFileBytes: number;
}

/** The maximum number of parts of one input. */
export const MOST_PARTS = 256;
/** All files of one input, or of one result of a tool, together may have this many times the bytes of one file. */
export const MOST_FILES_FULL = 2;
const LONGEST_NAME = 255;
const LONGEST_URL = 4_096;

/**
 * Returns a frozen copy of the parts. `providerOptions` can replace a whole part in the request to the provider, so only
 * agents may set them. **Errors** — `E_FILE_INVALID`, `E_FILE_SIZE`, which name the part.
 */
export function checkContent(
  content: unknown,
  limits: FileLimits,
  from: 'outside' | 'agent' = 'outside',
): readonly ContentPart[] {
  if (!Array.isArray(content)) throw invalid('`content` is not a list of parts');
  if (content.length > MOST_PARTS)
    throw invalid(`\`content\` has ${content.length} parts; at most ${MOST_PARTS} are allowed`);
  const parts = content.map((part: unknown, index) =>
    checkPart(part, `content[${index}]`, from === 'agent' ? ['providerOptions'] : []),
  );
  checkSizes(parts, limits);
  return Object.freeze(parts);
}

/** Checks the sizes of files whose bytes are in the parts. **Errors** — `E_FILE_SIZE`. */
export function checkSizes(parts: readonly ContentPart[], { maxFileBytes }: FileLimits): void {
  let sum = 0;
  for (const part of parts) {
    const size = sizeOf(part);
    if (size > maxFileBytes) throw tooLarge(nameOf(part), size, maxFileBytes);
    sum += size;
  }
  if (sum <= maxFileBytes * MOST_FILES_FULL) return;
  throw new GoondanError(
    'E_FILE_SIZE',
    `The files have ${sum} bytes together; at most ${maxFileBytes * MOST_FILES_FULL} are allowed.`,
  );
}

export function tooLarge(name: string, size: number, most: number): GoondanError {
  return new GoondanError('E_FILE_SIZE', `${name} has ${size} bytes; at most ${most} are allowed.`);
}

function sizeOf(part: ContentPart): number {
  if (part.type === 'text') return 0;
  const source = readSource(sourceOfPart(part));
  // The size of stored bytes was checked when they were stored, and counts for the sum.
  return source.kind === 'bytes' ? source.size : source.kind === 'reference' ? (part.size ?? 0) : 0;
}

function nameOf(part: ContentPart): string {
  if (part.type === 'text') return 'A text';
  return part.filename === undefined ? 'A file' : `The file ${JSON.stringify(part.filename)}`;
}

function checkPart(part: unknown, place: string, more: readonly string[]): ContentPart {
  if (!isPlainObject(part)) throw invalid(`${place} is not an object`);
  const { type, text, image, data, mediaType, filename, size } = part;
  if (type === 'text') {
    if (typeof text !== 'string') throw invalid(`${place}.text is not a text`);
    return copyPart(part, place, ['type', 'text', ...more]);
  }
  if (type !== 'image' && type !== 'file') throw invalid(`${place}.type is not one of text, image, file`);
  const field = type === 'image' ? 'image' : 'data';
  const source = type === 'image' ? image : data;
  if (typeof source !== 'string' || source === '') throw invalid(`${place}.${field} is not a text`);
  if (mediaType !== undefined && !isMediaType(mediaType)) throw invalid(`${place}.mediaType is not a media type`);
  if (filename !== undefined && !isShortText(filename)) {
    throw invalid(`${place}.filename is not a text of 1 to ${LONGEST_NAME} characters`);
  }
  if (size !== undefined && !(Number.isSafeInteger(size) && Number(size) >= 0))
    throw invalid(`${place}.size is not a number`);
  const read = readSource(source);
  if (read.kind === 'malformed') throw invalid(`${place}.${field} ${read.problem}`);
  if (read.kind === 'bytes' && read.mediaType !== undefined && !isMediaType(read.mediaType)) {
    throw invalid(`${place}.${field} is a data URL with a wrong media type`);
  }
  if (read.kind === 'url' && !/^https?:/i.test(source)) {
    throw invalid(`${place}.${field} is a URL that begins neither with http: nor with https:`);
  }
  if (read.kind === 'url' && source.length > LONGEST_URL) {
    throw invalid(`${place}.${field} is a URL of more than ${LONGEST_URL} characters`);
  }
  const known = ['type', field, 'mediaType', 'filename', 'size', ...more];
  const typed = type === 'file' && mediaType === undefined ? { ...part, mediaType: 'application/octet-stream' } : part;
  return copyPart(typed, place, known);
}

function copyPart(part: object, place: string, known: readonly string[]): ContentPart {
  const unknown = Object.keys(part).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw invalid(`${place} has the unknown field "${unknown.slice(0, 60)}"; known: ${known.join(', ')}`);
  const refuse = ({ message }: NotJson) => invalid(`${place}: ${message}`);
  // Safe: the type and the fields were checked by the caller.
  return copyJsonObject(part, { freeze: true, omitUndefined: true, refuse }) as unknown as ContentPart;
}

/** Returns true for `type/subtype`, with or without parameters. */
function isMediaType(value: unknown): boolean {
  return isShortText(value) && /^[\w!#$&^.+-]+\/[\w!#$&^.+*-]+ *(;[\x20-\x7e]*)?$/.test(value);
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_NAME && value.isWellFormed();
}

function invalid(problem: string): GoondanError {
  return new GoondanError('E_FILE_INVALID', `The input cannot be taken: ${problem}.`);
}

/** Returns a text for people: the parts of an input that are not text, `[image cat.png, 12 KB]`. */
export function describeContent(content: readonly ContentPart[] | undefined): readonly string[] {
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : describeFile(part)));
}
