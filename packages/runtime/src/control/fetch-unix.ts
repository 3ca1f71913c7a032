/** Provides `fetch` over a Unix socket: Bun's own, or the same for Node, whose `fetch` has no Unix sockets. */
import { isBun } from '../ports/is-bun.ts';

export interface UnixRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body?: string;
}

/** Rejects with the error of the system, which has a `code`, or with the reason of the signal. */
export async function fetchUnix(path: string, url: URL, request: UnixRequest): Promise<Response> {
  // A reused connection may lead to a swarm that is gone, and the request would be sent a second time.
  return isBun ? fetch(url, { ...request, unix: path, keepalive: false }) : fetchInNode(path, url, request);
}

async function fetchInNode(socketPath: string, url: URL, { body, ...request }: UnixRequest): Promise<Response> {
  const [http, { Readable }] = await Promise.all([import('node:http'), import('node:stream')]);
  return new Promise((resolve, reject) => {
    const options = { ...request, socketPath, path: url.pathname + url.search, agent: false } as const;
    const sent = http.request(options, (answer) => {
      // Safe: Node's type of a web stream is not the global one, but they are the same at run time.
      const stream = Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>;
      resolve(new Response(stream, { status: answer.statusCode ?? 500 }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
