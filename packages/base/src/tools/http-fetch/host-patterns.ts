/** Patterns for hosts in a bundle: `example.com`, `*.example.com`, an address, or a network like `10.0.0.0/8`. */
import { type BlockList, isIPv4, isIPv6 } from 'node:net';
import { blockListOf } from './is-public-address.ts';

/** Returns true if a pattern matches a host by its name. A pattern that is an address must equal the host as text. */
export function namesHost(pattern: string, host: string): boolean {
  const [wanted, name] = [pattern.toLowerCase(), host.toLowerCase()];
  return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) : name === wanted;
}

export function isAllowedAddress(patterns: readonly string[], address: string): boolean {
  if (address.includes('%')) return false;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  return patterns.some((pattern) => networkOf(pattern, family)?.check(address, family) === true);
}

function networkOf(pattern: string, family: 'ipv4' | 'ipv6'): BlockList | undefined {
  const [network = '', bits] = pattern.split('/');
  const isOfFamily = family === 'ipv4' ? isIPv4(network) : isIPv6(network);
  const all = family === 'ipv4' ? 32 : 128;
  const prefix = bits === undefined ? all : Number(bits);
  if (!isOfFamily || !Number.isInteger(prefix) || prefix < 0 || prefix > all) return undefined;
  return blockListOf([[network, prefix]], family);
}
