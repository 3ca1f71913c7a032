/**
 * The HTTP server of a connector.
 *
 * Invariants:
 * 1. Whatever comes in is answered, and every refusal has a code; what goes wrong inside is told to the log, not outside.
 * 2. No more than `maxConcurrent` requests are answered at once; one more is refused, and nothing of it is read. As many
 *    again may send their bodies: bodies that come slowly keep nobody out.
 * 3. Without a secret, only this machine's own programs are answered: no page of a browser, no other host's name.
 * 4. When it has to go it takes no new connection and finishes what it has begun.
 */
import { type Cleanup, GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { BodyPlaces } from './body-places.ts';
import { DEFAULT_CONCURRENT, DEFAULT_HOST, isLoopback, type ListenConfig } from './listen-config.ts';
import type { BodyBounds } from './read-body.ts';
import { refuse, toCoded } from './refuse.ts';

export interface WebServer {
  /** Answers a request; a `GoondanError` it throws is the refusal. `bounds` is for `readBody`. */
  readonly answer: (request: Request, url: URL, bounds: BodyBounds) => Promise<Response>;
  /** How a refusal looks here. */
  readonly refuse?: (error: GoondanError) => Response;
  readonly logger: Pick<Console, 'info' | 'error'>;
}

/** Seconds without a byte, until a request is being answered. */
const IDLE_SECONDS = 30;

/** Returns what ends it. Throws when it cannot listen there. */
export function listen(config: ListenConfig, { answer, refuse: say = refuse, logger }: WebServer): Cleanup {
  const { host = DEFAULT_HOST, port, insecure = false, maxConcurrent = DEFAULT_CONCURRENT } = config;
  const places = new BodyPlaces(maxConcurrent, checkRoom);
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    // Ours are smaller, and say so in words.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Bun shares the port with others unless it is told not to.
    reusePort: false,
    async fetch(request) {
      try {
        // A turn may take its time; bodies have a deadline of their own.
        server.timeout(request, 0);
        const url = URL.parse(request.url);
        if (url === null) throw new Refusal(400, 'E_HTTP_BODY', 'The address of the request is not a URL.');
        if (insecure) checkLocal(request);
        if (isHealthCheck(request, url)) return Response.json({ status: 'ok' });
        checkRoom();
        return await answer(request, url, { places });
      } catch (error) {
        if (!(error instanceof GoondanError)) logger.error('A request failed: %o', error);
        return say(toCoded(error));
      }
    },
  });
  logger.info(`Listening on http://${host.includes(':') ? `[${host}]` : host}:${server.port}/`);
  return () => server.stop();

  /** Counted by Bun, which knows when a connection is really gone. The request that asks is one of them. */
  function checkRoom(): void {
    if (server.pendingRequests - places.size > maxConcurrent) throw fullError(maxConcurrent);
  }
}

/** Asks for nothing and tells nothing. */
function isHealthCheck({ method }: Request, { pathname }: URL): boolean {
  return pathname === '/health' && (method === 'GET' || method === 'HEAD');
}

/** Invariant 3: a name that a stranger's DNS points here would else be as good as ours. */
function checkLocal(request: Request): void {
  const { hostname = '' } = URL.parse(`http://${request.headers.get('host') ?? ''}`) ?? {};
  const isOurs = isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
  if (isOurs && !request.headers.has('origin')) return;
  throw new Refusal(403, 'E_HTTP_ORIGIN', 'Without a token only programs of this machine are answered.');
}

function fullError(most: number): Refusal {
  return new Refusal(429, 'E_HTTP_FULL', `${most} requests are being answered.`);
}
