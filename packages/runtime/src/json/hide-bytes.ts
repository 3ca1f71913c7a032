/**
 * Hides the bytes of images and files where a value is only shown. A layer may return base64 before the runtime has
 * stored it, and records for people must not contain it.
 */
import { sha256 } from './sha256.ts';

/** The field with the bytes, by the type of the part. */
const fields: Readonly<Record<string, string>> = { image: 'image', file: 'data' };
const ENDS = 4_096;

/** Returns a short text in place of a field that has the bytes of an image or a file; `undefined` for any other field. */
export function hideBytes(part: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const { type } = part;
  if (typeof type !== 'string' || !Object.hasOwn(fields, type) || fields[type] !== field) return undefined;
  const value = part[field];
  return typeof value === 'string' && isBytes(value) ? describe(value) : undefined;
}

/** Hides the bytes in a list of parts. Everything else is the same value. */
export function hideBytesInParts(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part: unknown) => {
    if (typeof part !== 'object' || part === null) return part;
    // Safe: only own fields are read.
    const fieldsOf = part as Readonly<Record<string, unknown>>;
    const hidden = Object.keys(fieldsOf).flatMap((key) => {
      const text = hideBytes(fieldsOf, key);
      return text === undefined ? [] : [[key, text]];
    });
    return hidden.length === 0 ? part : { ...part, ...Object.fromEntries(hidden) };
  });
}

/** Returns a short text in place of a value at a path that ends with the field of an image or a file. */
export function hideBytesAt(path: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length < SHORTEST || !/(?:^|\.)(?:image|data)$/.test(path)) return value;
  return isBytes(value) && /^(?:data:|[\w+/=-]+$)/.test(value.slice(0, SHORTEST)) ? describe(value) : value;
}

const SHORTEST = 64;

function isBytes(value: string): boolean {
  return value.startsWith('data:') || !/^[a-z][a-z0-9+.-]*:/i.test(value.slice(0, SHORTEST));
}

/** The digest tells two values apart, and costs the same for long ones. */
function describe(value: string): string {
  const ends = value.length > 2 * ENDS ? value.slice(0, ENDS) + value.slice(-ENDS) : value;
  return `(bytes: ${value.length} characters of base64, ${sha256(ends).slice(0, 8)})`;
}
