/**
 * Sends the requests of a sign-in: metadata, registration, tokens.
 *
 * 1. A request has a time limit, and its answer a size limit.
 * 2. No request leaves this machine without TLS, also not by a redirect. The server of an https address cannot lead to a request
 *    without TLS at all, and no server to a file, which `fetch` would read.
 * 3. Only a request without a secret follows redirects: what is posted goes to the address that was asked for.
 * 4. The text of an error answer never repeats a secret of its request, because it gets into errors and logs. All of it
 *    is dropped except the fields of an OAuth error.
 */
import { isObject } from '../../../json/is-object.ts';
import { cleanText } from '../../../text/clean-text.ts';
import type { FetchLike } from '../sdk.ts';
import { mayLeadTo } from './clear-text.ts';

const LONGEST_MS = 15_000;
const MOST_BYTES = 1_000_000;
const LONGEST_TEXT = 300;
const MOST_REDIRECTS = 3;

export interface OauthFetch {
  readonly fetch: FetchLike;
  /** The problem of the last request, if the authorization server could not be reached or failed. */
  readonly problem: () => string | undefined;
}

/** `serverUrl`: the address of the MCP server. */
export function oauthFetch(serverUrl: string, signal?: AbortSignal, send: FetchLike = fetch): OauthFetch {
  let problem: string | undefined;
  return {
    problem: () => problem,
    async fetch(url, init = {}) {
      const late = AbortSignal.timeout(LONGEST_MS);
      let target = new URL(url);
      for (let redirects = 0; ; redirects += 1) {
        const response = await request(target, init, late);
        const next = redirectOf(response, target, init);
        if (next === undefined || redirects === MOST_REDIRECTS) return response;
        target = next;
      }
    },
  };

  async function request(target: URL, init: RequestInit, late: AbortSignal): Promise<Response> {
    const { protocol, host, pathname } = target;
    const where = `${protocol}//${host}${pathname}`;
    if (!mayLeadTo(serverUrl, target)) throw new Error(`${where} is not an https address.`);
    const signals = [late, signal, init.signal].filter((each) => each instanceof AbortSignal);
    try {
      const response = await send(target, { ...init, redirect: 'manual', signal: AbortSignal.any(signals) });
      const text = await readText(response, where);
      problem = response.status >= 500 ? `${where} answered with HTTP ${response.status}.` : undefined;
      const { status, statusText, headers } = response;
      const body = response.ok ? text : cleanError(text, secretsOf(init));
      return new Response(mayHaveBody(status) ? body : null, { status, statusText, headers: withoutLength(headers) });
    } catch (error) {
      signal?.throwIfAborted();
      problem = `${where} ${late.aborted ? `did not answer within ${LONGEST_MS} ms.` : `cannot be reached: ${messageOf(error)}`}`;
      throw error;
    }
  }
}

/** Returns the address to which a request is redirected; `undefined` if it is not, or may not be. */
function redirectOf({ status, headers }: Response, from: URL, { method = 'GET' }: RequestInit): URL | undefined {
  const location = headers.get('location');
  if (status < 300 || status > 399 || location === null || method !== 'GET') return undefined;
  return URL.parse(location, from.href) ?? undefined;
}

async function readText(response: Response, where: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MOST_BYTES) throw new Error(`${where} sent more than ${MOST_BYTES} bytes.`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** Returns an OAuth error without secrets, as JSON; an empty text for any other answer. */
function cleanError(text: string, secrets: readonly string[]): string {
  const value = parse(text);
  if (!isObject(value) || typeof value.error !== 'string') return '';
  const clean = (field: unknown) => {
    if (typeof field !== 'string') return undefined;
    return cleanText(hide(field, secrets), LONGEST_TEXT);
  };
  return JSON.stringify({ error: clean(value.error), error_description: clean(value.error_description) });
}

/** Lists all values of a request, because an error may repeat any of them. */
function secretsOf({ body, headers }: RequestInit): string[] {
  const values = body instanceof URLSearchParams ? [...body.values()] : [];
  const authorization = new Headers(headers).get('authorization')?.split(' ') ?? [];
  return [...values, ...authorization];
}

/** Replaces secrets in a text. Short values are not secrets. */
export function hide(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= 8)
    .toSorted((one, other) => other.length - one.length)
    .reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body was read, so these headers no longer describe it. */
function withoutLength(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) kept.delete(name);
  return kept;
}

function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? cleanText(error.message, LONGEST_TEXT) : 'unknown error';
}
