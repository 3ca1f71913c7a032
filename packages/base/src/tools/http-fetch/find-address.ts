/**
 * Checks whether a URL may be fetched, and returns its addresses. Invariant: connections use exactly these addresses.
 * The name is not resolved a second time, so an attacker cannot change the address after the check.
 */
import { isIP } from 'node:net';
import { GoondanError } from '@goondan/types';
import type { FetchConfig } from './fetch-config.ts';
import { isAllowedAddress, namesHost } from './host-patterns.ts';
import { isPublicAddress } from './is-public-address.ts';

/** Resolves a host name to all of its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const LONGEST_URL = 8_192;

/** Parses a URL. Throws `E_FETCH_URL` unless the text is an http or https URL. */
export function parseUrl(text: string, base?: URL): URL {
  const url = text.length > LONGEST_URL ? null : URL.parse(text, base?.href);
  if (url === null) throw badUrl(text, 'is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badUrl(text, 'is neither http nor https');
  if (url.username !== '' || url.password !== '') throw badUrl(text, 'has a user or a password in it');
  return url;
}

/**
 * Returns at least one address, in the order to try them. Throws `E_FETCH_REFUSED` if the URL may not be fetched, and
 * `E_FETCH_FAILED` for an unknown name.
 */
export async function findAddresses(url: URL, config: FetchConfig, resolve: Resolve): Promise<string[]> {
  const host = hostOf(url);
  if (config.only !== undefined && !config.only.some((pattern) => namesHost(pattern, host))) {
    throw new GoondanError('E_FETCH_REFUSED', `${JSON.stringify(host)} is not one of the hosts this tool may reach.`);
  }
  const addresses = isIP(host) === 0 ? await lookUp(host, resolve) : [host];
  const isTrusted = config.allow.some((pattern) => namesHost(pattern, host));
  const reachable = addresses.filter(
    (address) => isTrusted || isPublicAddress(address) || isAllowedAddress(config.allow, address),
  );
  // Tries IPv4 first: broken IPv6 is more common, and takes long to detect.
  if (reachable.length > 0) return reachable.toSorted((one, other) => isIP(one) - isIP(other));
  throw new GoondanError('E_FETCH_REFUSED', `${JSON.stringify(host)} is not at a public address.`);
}

/** Returns the host without the brackets of IPv6 and without the trailing dot of a full name. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

async function lookUp(host: string, resolve: Resolve): Promise<readonly string[]> {
  let addresses: readonly string[] = [];
  try {
    addresses = await resolve(host);
  } catch (error) {
    throw new GoondanError('E_FETCH_FAILED', `The name ${JSON.stringify(host)} is not known.`, { cause: error });
  }
  // A name server may return anything, so only valid addresses are kept.
  return addresses.filter((address) => isIP(address) !== 0);
}

function badUrl(text: string, problem: string): GoondanError {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return new GoondanError('E_FETCH_URL', `${JSON.stringify(shown)} ${problem}.`);
}
