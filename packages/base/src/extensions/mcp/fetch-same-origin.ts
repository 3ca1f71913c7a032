/**
 * Sends a request of the protocol to a server. It has the headers of the server, which may be secrets, and the arguments of a
 * call. So it follows a redirect only to another path of the same server, and only with the same method. The answer is limited.
 */
import { boundedResponse } from './bounded-response.ts';
import type { FetchLike } from './sdk.ts';

const MOST_REDIRECTS = 3;

export const fetchSameOrigin: FetchLike = async (url, init) => {
  let target = new URL(url);
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(target, { ...init, redirect: 'manual' });
    const next = redirectOf(response, target);
    if (next === undefined) return boundedResponse(response);
    await response.body?.cancel();
    const keepsMethod = response.status === 307 || response.status === 308 || (init?.method ?? 'GET') === 'GET';
    if (next.origin !== target.origin || !keepsMethod || redirects === MOST_REDIRECTS) {
      const { protocol, host, pathname } = next;
      throw new Error(`it redirects to ${protocol}//${host}${pathname}. If that is right, declare this address.`);
    }
    target = next;
  }
};

function redirectOf({ status, headers }: Response, from: URL): URL | undefined {
  const location = headers.get('location');
  return status < 300 || status > 399 || location === null ? undefined : (URL.parse(location, from.href) ?? undefined);
}
