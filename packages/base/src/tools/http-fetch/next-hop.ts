/** Decides what a redirect may take along. An origin is scheme, host and port: another scheme is another origin. */
import { GoondanError } from '@goondan/types';
import { parseUrl } from './find-address.ts';
import type { HttpRequest } from './send-request.ts';
import { shownUrl } from './shown-url.ts';

/** One request of a chain of redirects. `headers` are the headers that the model set. */
export type Hop = Pick<HttpRequest, 'url' | 'method' | 'headers' | 'body'>;

/** Returns the next request if the response is a redirect; otherwise `undefined`. */
export function nextHop(hop: Hop, statusCode = 0, location?: string): Hop | undefined {
  if (location === undefined || ![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const url = parseUrl(location, hop.url);
  const isSameOrigin = url.origin === hop.url.origin;
  // Headers and body are not sent to another origin.
  const headers = isSameOrigin ? hop.headers : {};
  const isHarmless = hop.method === 'GET' || hop.method === 'HEAD';
  if (isHarmless) return { ...hop, url, headers };
  if (statusCode < 307) return { url, headers, method: 'GET', body: undefined };
  if (isSameOrigin) return { ...hop, url };
  const problem = `${shownUrl(hop.url.href)} redirects the posted body to another host`;
  throw new GoondanError('E_FETCH_REDIRECT', `${problem}.`);
}
