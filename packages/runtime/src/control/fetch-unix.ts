/** `fetch` over a Unix socket: Bun's own, or the same for Node, whose `fetch` knows no Unix sockets. */
import { isBun } from '../ports/is-bun.ts';

export interface UnixRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body?: string;
}

/** Rejects with what the system says: an error with a `code`, or the reason of the signal. */
export async function fetchUnix(path: string, url: URL, request: UnixRequest): Promise<Response> {
  // A connection that is used again may be one to a swarm that is gone, and the request would be sent a second time.
  return isBun ? fetch(url, { ...request, unix: path, keepalive: false }) : fetchInNode(path, url, request);
}

async function fetchInNode(socketPath: string, url: URL, { body, ...request }: UnixRequest): Promise<Response> {
  const [http, { Readable }] = await Promise.all([import('node:http'), import('node:stream')]);
  return new Promise((resolve, reject) => {
    const options = { ...request, socketPath, path: url.pathname + url.search, agent: false } as const;
    const sent = http.request(options, (answer) => {
      // Node's type of a web stream is not the global one; they are the same at run time.
      const stream = Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>;
      resolve(new Response(stream, { status: answer.statusCode ?? 500 }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
