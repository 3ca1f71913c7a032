export interface ReadPage {
  readonly href: string;
  /** The host as the browser asks for it: letters of other alphabets are written in ASCII. */
  readonly host: string;
}

/** Returns the address of a page; `undefined` unless it is `https:`, or `http:` of this machine, without a password. */
export function readPage(url: string): ReadPage | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.username !== '' || parsed.password !== '') return undefined;
  const { protocol, hostname, host, href } = parsed;
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isHere) ? { href, host } : undefined;
}
