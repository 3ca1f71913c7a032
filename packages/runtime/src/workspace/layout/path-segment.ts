/**
 * The only function that turns a name from outside into a part of a path.
 *
 * Two names never get the same segment. A safe name stays unchanged, and every other name gets its hash as a suffix. A
 * safe name that already ends like such a hash also gets its own hash.
 */
import { sha256 } from '../../json/sha256.ts';

const SAFE = /^[a-z0-9_][a-z0-9_-]{0,63}$/;
const LOOKS_HASHED = /-[0-9a-f]{16}$/;

/**
 * Returns the segment, in lower case only, because some file systems ignore case.
 *
 * @example pathSegment('default') // 'default'
 * @example pathSegment('a/b') // 'a-b-c14cddc033f64b9d'
 */
export function pathSegment(name: string): string {
  if (SAFE.test(name) && !LOOKS_HASHED.test(name)) return name;
  return `${slug(name)}-${shortHash(name)}`;
}

/** Returns 64 bits of SHA-256, as 16 hexadecimal digits. */
export function shortHash(text: string): string {
  return sha256(text).slice(0, 16);
}

function slug(name: string): string {
  const words = name.toLowerCase().replace(/[^a-z0-9_]+/g, '-');
  return words.replace(/^-/, '').slice(0, 40).replace(/-$/, '') || 'x';
}
