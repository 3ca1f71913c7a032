/**
 * Sends one HTTP request to the control port of a node, over TLS.
 *
 * 1. No byte of the request is sent before the certificate of the node is checked. Bun's `fetch` sends the request while
 *    its own check still runs, and Bun's `http` uses that `fetch`, so this file writes and reads HTTP itself, on a socket
 *    of `node:tls`. The same code runs in Node.
 * 2. One connection has one request. A reused connection may lead to a node that has stopped, and the request would then
 *    be sent twice.
 * 3. An answer that breaks off is an error, never a shorter answer.
 */
import { GoondanError } from '@goondan/types';
import type { TLSSocket } from 'node:tls';
import { fingerprintOf } from './certificate-fingerprint.ts';
import type { NodePlace } from './control-socket.ts';
import type { SocketRequest } from './fetch-unix.ts';
import { readHttpAnswer } from './read-http-answer.ts';

/** The name of the header with the name of the relaying node. */
export const RELAYED_BY = 'Goondan-Relayed-By';

/**
 * Sends a request. Rejects with the system's error, which has a `code`, with the reason of the signal, with
 * `E_CLUSTER_CERTIFICATE` if another certificate answers, or with `E_CLUSTER_TOKEN` if the token cannot be sent.
 */
export async function fetchNode(place: NodePlace, url: URL, request: SocketRequest): Promise<Response> {
  const { signal } = request;
  const sent = encodeRequest(place, url, request);
  signal.throwIfAborted();
  const socket = await openChecked(place, signal);
  const leave = () => socket.destroy();
  signal.addEventListener('abort', leave, { once: true });
  // The reader of the answer gets errors of the socket; this listener only keeps them from being uncaught.
  socket.on('error', () => undefined);
  socket.once('close', () => signal.removeEventListener('abort', leave));
  if (signal.aborted) leave();
  try {
    socket.write(sent);
    return await readHttpAnswer(socket);
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    throw error;
  }
}

/** The time for a connection and its handshake. A machine without power answers nothing at all. */
const CONNECT_MS = 10_000;
/** The time without traffic after which the system checks that the other machine is still there. */
const KEEP_ALIVE_MS = 15_000;

/** Opens a connection, and checks the certificate of its other end. */
async function openChecked(place: NodePlace, signal: AbortSignal): Promise<TLSSocket> {
  const { address, certificate, connectMs = CONNECT_MS } = place;
  const { connect } = await import('node:tls');
  const { host, port } = parseAddress(address);
  return new Promise((resolve, reject) => {
    // The fingerprint decides, and not the issuers that this machine trusts.
    const socket = connect({ host, port, rejectUnauthorized: false });
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', leave);
      socket.destroy();
      reject(error);
    };
    const leave = () => fail(signal.reason);
    const failAs = (code: string) => () => fail(Object.assign(new Error('There is no connection.'), { code }));
    const closed = failAs('ECONNRESET');
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setTimeout(connectMs, failAs('ETIMEDOUT'));
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    socket.once('error', fail);
    socket.once('close', closed);
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate();
      if (raw === undefined || fingerprintOf(raw) !== certificate) return fail(foreign(address));
      signal.removeEventListener('abort', leave);
      socket.setTimeout(0);
      socket.off('error', fail);
      socket.off('close', closed);
      resolve(socket);
    });
  });
}

function foreign(address: string): GoondanError {
  const message = `${address} has another certificate than the node that is expected there. Nothing was sent to it.`;
  return new GoondanError('E_CLUSTER_CERTIFICATE', message);
}

const ADDRESS = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<host>[^:/@\s[\]]+)):(?<port>\d{1,5})$/;

/** Splits `host:port`. **Errors** — `E_CONTROL_REQUEST`. */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const { v6, host, port } = ADDRESS.exec(address)?.groups ?? {};
  const name = v6 ?? host;
  if (name === undefined || Number(port) > 65_535) {
    throw new GoondanError('E_CONTROL_REQUEST', `"${address}" is not an address of the form host:port.`);
  }
  return { host: name, port: Number(port) };
}

function encodeRequest({ address, token, relayedBy }: NodePlace, url: URL, request: SocketRequest): Buffer {
  // Anything else could end the header and begin another one.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new GoondanError('E_CLUSTER_TOKEN', 'The token is empty, or has characters that a token does not have.');
  }
  const body = Buffer.from(request.body ?? '');
  const headers = {
    ...request.headers,
    Host: address,
    Authorization: `Bearer ${token}`,
    ...(relayedBy === undefined ? {} : { [RELAYED_BY]: encodeURIComponent(relayedBy) }),
    'Content-Length': String(body.length),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${request.method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
