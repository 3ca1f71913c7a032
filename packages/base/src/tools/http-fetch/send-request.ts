/** Sends one request to one address, and returns the head of its answer. It resolves neither names nor proxies. */
import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { hostOf } from './find-address.ts';

export interface HttpRequest {
  readonly url: URL;
  /** The connection uses this address, even if the name now has another. */
  readonly address: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** Rejects when there is no answer. The receiver of the answer reads or destroys it. */
export function sendRequest({ url, address, method, headers, body, signal }: HttpRequest): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  const name = hostOf(url);
  const options: RequestOptions & { servername?: string } = {
    host: address,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) },
    // One connection for each request: a connection for another name is never reused.
    agent: false,
    signal,
    // The certificate must be that of the name, not of the address.
    ...(isSecure && isIP(name) === 0 ? { servername: name } : {}),
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? https : http).request(options, resolve);
    const stop = (reason: unknown) => {
      request.destroy();
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    request.on('error', reject);
    // No other protocol was requested, and nothing else would close the connection.
    request.on('upgrade', (_answer, socket) => {
      socket.destroy();
      stop(new Error('the host changed to another protocol'));
    });
    signal.addEventListener('abort', () => stop(signal.reason), { once: true });
    request.end(body);
  });
}
