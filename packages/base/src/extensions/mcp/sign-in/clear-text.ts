/** Decides where tokens, codes and credentials may travel. Pure. */

const ownHosts = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Returns true if requests to this address are encrypted, or stay on this machine. */
export function keepsSecrets(url: string | URL): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && ownHosts.test(hostname));
}

/** Returns true if a sign-in at this server may go to this address. Only a server of this machine leads to http. */
export function mayLeadTo(serverUrl: string, address: URL): boolean {
  return address.protocol === 'https:' || (new URL(serverUrl).protocol !== 'https:' && keepsSecrets(address));
}

/** The end of a sentence about a server whose address does not keep secrets. */
export const CLEAR_TEXT = 'its url begins with http:, and tokens would travel in clear text';
