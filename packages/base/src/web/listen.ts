/**
 * The HTTP server of a connector.
 *
 * Invariants:
 * 1. Every request gets a response, and every error response has a code; internal errors go to the log, not to the
 *    client.
 * 2. At most `maxConcurrent` requests are answered at once; another request is refused before its body is read. The
 *    same number of bodies may be received at once, so slow bodies do not block other clients.
 * 3. Without a secret, only programs on this machine are served: no web page in a browser, and no other host name.
 * 4. When the server stops, it accepts no new connection and finishes the open requests.
 */
import { type Cleanup, GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { BodyPlaces } from './body-places.ts';
import { DEFAULT_CONCURRENT, DEFAULT_HOST, isLoopback, type ListenConfig } from './listen-config.ts';
import type { BodyBounds } from './read-body.ts';
import { refuse, toCoded } from './refuse.ts';

/** The maximum number of seconds without a byte while a request is being received. */
const IDLE_SECONDS = 30;

/**
 * Starts the server, and returns a function that stops it. `answer` answers a request, and passes `bounds` to
 * `readBody`. If `answer` throws a `GoondanError`, `say` makes the error response from it. Throws when the address
 * cannot be used.
 */
export function listen(
  config: ListenConfig,
  logger: Pick<Console, 'info' | 'error'>,
  answer: (request: Request, url: URL, bounds: BodyBounds) => Promise<Response>,
  say = refuse,
): Cleanup {
  const { host = DEFAULT_HOST, port, insecure = false, maxConcurrent = DEFAULT_CONCURRENT } = config;
  const places = new BodyPlaces(maxConcurrent, checkRoom);
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    // Bun's limit is disabled, because our own limit is smaller and its error has a message.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // By default Bun shares the port with other processes.
    reusePort: false,
    async fetch(request) {
      try {
        // There is no timeout while a request is answered, because a turn may take long. Reading a body has its own
        // deadline.
        server.timeout(request, 0);
        const url = URL.parse(request.url);
        if (url === null) throw new Refusal(400, 'E_HTTP_BODY', 'The address of the request is not a URL.');
        if (insecure) checkLocal(request);
        if (isHealthCheck(request, url)) return Response.json({ status: 'ok' });
        checkRoom();
        return await answer(request, url, { places });
      } catch (error) {
        if (!GoondanError.is(error)) logger.error('A request failed: %o', error);
        return say(toCoded(error));
      }
    },
  });
  logger.info(`Listening on http://${host.includes(':') ? `[${host}]` : host}:${server.port}/`);
  return () => server.stop();

  /** Uses Bun's count, because Bun knows when a connection has really ended. The count includes the current request. */
  function checkRoom(): void {
    if (server.pendingRequests - places.size > maxConcurrent) throw fullError(maxConcurrent);
  }
}

/** Tells whether a request is a health check, which reads and reveals nothing. */
function isHealthCheck({ method }: Request, { pathname }: URL): boolean {
  return pathname === '/health' && (method === 'GET' || method === 'HEAD');
}

/**
 * Enforces invariant 3. Without this check, the server would accept requests to a foreign host name that resolves to
 * this machine.
 */
function checkLocal(request: Request): void {
  const { hostname = '' } = URL.parse(`http://${request.headers.get('host') ?? ''}`) ?? {};
  const isOurs = isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
  if (isOurs && !request.headers.has('origin')) return;
  throw new Refusal(403, 'E_HTTP_ORIGIN', 'Without a token, only programs on this machine are answered.');
}

function fullError(most: number): Refusal {
  return new Refusal(429, 'E_HTTP_FULL', `${most} requests are being answered.`);
}
