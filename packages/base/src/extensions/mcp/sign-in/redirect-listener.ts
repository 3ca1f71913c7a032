/**
 * Waits for the redirect of a person's browser after a sign-in.
 *
 * 1. It listens at 127.0.0.1 only, and answers only requests that name this host.
 * 2. Only the redirect with the right state counts, once. Anything else is refused, and the wait goes on.
 */
import { timingSafeEqual } from 'node:crypto';

export interface RedirectListener {
  readonly redirectUrl: string;
  /** Resolves with the parameters of the redirect. */
  readonly arrived: Promise<URLSearchParams>;
  /** Takes an address that the person pasted. Returns false if it is not the redirect. */
  take(address: string): boolean;
  close(): void;
}

const PATH = '/callback';

/** Listens at a free port, or at `port`. **Errors** — those of the system, if the port is taken. */
export function listenForRedirect(state: string, port = 0): RedirectListener {
  const arrived = Promise.withResolvers<URLSearchParams>();
  let isOver = false;
  const accept = (url: URL): boolean => {
    if (isOver || url.pathname !== PATH || !isSame(url.searchParams.get('state') ?? '', state)) return false;
    isOver = true;
    arrived.resolve(url.searchParams);
    return true;
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    fetch(request) {
      const url = new URL(request.url);
      const isOurs = url.hostname === '127.0.0.1' || url.hostname === 'localhost';
      if (request.method !== 'GET' || !isOurs || url.pathname !== PATH) return page(404, 'There is nothing here.');
      if (isOver) return page(410, 'This sign-in is over.');
      if (!accept(url)) return page(400, 'This is not the sign-in that Goondan began. Go back to the terminal.');
      const isRefused = url.searchParams.has('error');
      return page(200, `${isRefused ? 'The sign-in was refused.' : 'Thank you.'} You can close this window.`);
    },
    error: () => page(500, 'The sign-in failed. Go back to the terminal.'),
  });
  return {
    redirectUrl: `http://127.0.0.1:${server.port}${PATH}`,
    arrived: arrived.promise,
    take(address) {
      const url = URL.parse(address.trim());
      return url !== null && accept(url);
    },
    // A page that is being sent is finished first.
    close: () => void server.stop(),
  };
}

function isSame(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function page(status: number, text: string): Response {
  const html = `<!doctype html><meta charset="utf-8"><title>Goondan</title><p style="font: 1.2em sans-serif; margin: 3em">${text}</p>`;
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'referrer-policy': 'no-referrer',
      connection: 'close',
    },
  });
}
