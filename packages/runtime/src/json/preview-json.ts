/**
 * Returns the beginning of a value as text. The cost depends only on the length of this beginning, not on the size of
 * the value. The bytes of images and files are not shown.
 */
import { isPlainObject } from './copy-json.ts';
import { hideBytes } from './hide-bytes.ts';

const DEEPEST = 64;

/**
 * Returns a text as it is, and any other value as JSON. A value that is not JSON becomes `null`, as JSON.stringify does
 * inside arrays. `isCut` is true if the text is not complete.
 */
export function previewJson(value: unknown, longest: number): { readonly text: string; readonly isCut: boolean } {
  if (typeof value === 'string') return { text: value.slice(0, longest), isCut: value.length > longest };
  const written: Written = { pieces: [], left: longest };
  write(value, written, 0);
  const text = written.pieces.join('');
  return { text: text.slice(0, longest), isCut: written.left < 0 };
}

interface Written {
  readonly pieces: string[];
  /** The number of characters left. Below 0 means that a piece did not fit; nothing more is written then. */
  left: number;
}

function put(text: string, written: Written): void {
  written.pieces.push(text);
  written.left -= text.length;
}

function write(value: unknown, written: Written, depth: number): void {
  if (written.left < 0) return;
  if (typeof value === 'string') return put(JSON.stringify(value.slice(0, written.left + 1)), written);
  if (typeof value === 'number' || typeof value === 'boolean') return put(String(value), written);
  if (value instanceof Date) return put(JSON.stringify(value), written);
  if (depth >= DEEPEST) return put('…', written);
  if (Array.isArray(value)) return writeArray(value, written, depth);
  if (isPlainObject(value)) return writeObject(value, written, depth);
  put('null', written);
}

function writeArray(items: readonly unknown[], written: Written, depth: number): void {
  put('[', written);
  for (const [index, item] of items.entries()) {
    if (written.left < 0) return;
    if (index > 0) put(',', written);
    write(item, written, depth + 1);
  }
  put(']', written);
}

function writeObject(object: Record<string, unknown>, written: Written, depth: number): void {
  put('{', written);
  let isFirst = true;
  for (const key of Object.keys(object)) {
    if (written.left < 0) return;
    if (object[key] === undefined) continue;
    put(`${isFirst ? '' : ','}${JSON.stringify(key.slice(0, written.left + 1))}:`, written);
    isFirst = false;
    write(hideBytes(object, key) ?? object[key], written, depth + 1);
  }
  put('}', written);
}
