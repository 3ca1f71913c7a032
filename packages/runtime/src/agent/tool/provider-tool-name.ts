/**
 * The name under which a provider gets a tool. Providers accept 1 to 64 of the characters `A-Z a-z 0-9 _ -`, with a
 * letter or `_` first; some answer 400 for any other name. The rest of the runtime uses the tool's own name.
 *
 * 1. A name that providers accept stays unchanged.
 * 2. In any other name, each other character becomes `_`; a name that starts with a digit or `-` gets `_` in front. The
 *    name is cut, and ends in digits of its hash. So `a.b` and `a/b` stay two tools.
 *
 * A name always becomes the same name, whatever else is offered, so requests stay equal and a provider's cache stays
 * valid.
 */
import { sha256 } from '../../json/sha256.ts';

const LONGEST = 64;
const HASH_DIGITS = 8;
const accepted = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * @example toProviderName('weather__get') // 'weather__get'
 * @example toProviderName('weather.get') // 'weather_get-b8affdae'
 */
export function toProviderName(name: string): string {
  if (accepted.test(name)) return name;
  const replaced = name.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
  const clean = /^[A-Za-z_]/.test(replaced) ? replaced : `_${replaced}`;
  return `${clean.slice(0, LONGEST - HASH_DIGITS - 1)}-${sha256(name).slice(0, HASH_DIGITS)}`;
}
