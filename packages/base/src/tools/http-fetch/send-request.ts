/** Sends one request to one address, and returns the head of the response. Neither resolves names nor uses proxies. */
import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { hostOf } from './find-address.ts';

export interface HttpRequest {
  readonly url: URL;
  /** The address to connect to; the name in the URL is not resolved again. */
  readonly address: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends the request. Rejects when there is no response. The caller must read the response or destroy it. */
export function sendRequest({ url, address, method, headers, body, signal }: HttpRequest): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  const name = hostOf(url);
  const options: RequestOptions & { servername?: string } = {
    host: address,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) },
    // Each request opens a new connection, so that a connection that was made for another host name is never reused.
    agent: false,
    signal,
    // The certificate must match the host name, not the address.
    ...(isSecure && isIP(name) === 0 ? { servername: name } : {}),
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? https : http).request(options, resolve);
    const stop = (reason: unknown) => {
      request.destroy();
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    request.on('error', reject);
    // The request asked for no upgrade, and no other code would close an upgraded connection.
    request.on('upgrade', (_answer, socket) => {
      socket.destroy();
      stop(new Error('the host changed to another protocol'));
    });
    signal.addEventListener('abort', () => stop(signal.reason), { once: true });
    request.end(body);
  });
}
