/**
 * Provides `fetch` over a Unix socket: Bun's own `fetch`, or an equivalent for Node, whose `fetch` does not support
 * Unix sockets.
 */
import { isBun } from '../ports/is-bun.ts';

export interface SocketRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body?: string;
}

/** Sends a request. Rejects with the system's error, which has a `code`, or with the reason of the signal. */
export async function fetchUnix(path: string, url: URL, request: SocketRequest): Promise<Response> {
  // `keepalive` is off, because a reused connection may lead to a swarm that has stopped, and the request would then be
  // sent twice.
  return isBun ? fetch(url, { ...request, unix: path, keepalive: false }) : fetchInNode(path, url, request);
}

async function fetchInNode(socketPath: string, url: URL, { body, ...request }: SocketRequest): Promise<Response> {
  const [http, { Readable }] = await Promise.all([import('node:http'), import('node:stream')]);
  return new Promise((resolve, reject) => {
    const options = { ...request, socketPath, path: url.pathname + url.search, agent: false } as const;
    const sent = http.request(options, (answer) => {
      // Safe: Node's type of a web stream differs from the global one, but they are the same at run time.
      const stream = Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>;
      // `Response` throws for a status outside 200–599, so 500 is used instead. Only a foreign server sends such a
      // status.
      const { statusCode: status = 500 } = answer;
      resolve(new Response(status === 204 ? null : stream, { status: status >= 200 && status <= 599 ? status : 500 }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
