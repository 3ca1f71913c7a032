/** Sends a request and follows redirects. Each redirect is checked like a new request. */
import type { IncomingMessage } from 'node:http';
import { GoondanError } from '@goondan/types';
import type { FetchConfig } from './fetch-config.ts';
import { findAddresses, hostOf, parseUrl, type Resolve } from './find-address.ts';
import { readBody } from './read-body.ts';
import { checkHeaders, headersFor } from './request-headers.ts';
import { type HttpRequest, sendRequest } from './send-request.ts';
import { toReadable } from './to-readable.ts';

export interface FetchAsk {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** If true, returns HTML unchanged instead of converting it to text. */
  readonly raw?: boolean;
}

export interface FetchPlace {
  readonly config: FetchConfig;
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
}

const MOST_REDIRECTS = 5;
/** The maximum number of addresses of one host that are tried. */
const MOST_ADDRESSES = 3;
const shownHeaders = ['location', 'retry-after', 'etag', 'last-modified', 'link', 'allow'];

/**
 * Returns JSON for the model. `url` is the final URL after redirects, and `headers` holds only a few useful headers.
 */
export async function fetchPage(ask: FetchAsk, place: FetchPlace) {
  const late = AbortSignal.timeout(place.config.timeoutMs);
  const signal = AbortSignal.any([place.signal, late]);
  try {
    return await follow(ask, { ...place, signal });
  } catch (error) {
    place.signal.throwIfAborted();
    if (late.aborted) {
      const problem = `${shown(ask.url)} did not answer within ${place.config.timeoutMs} ms`;
      throw new GoondanError('E_FETCH_TIMEOUT', `${problem}.`, { cause: error });
    }
    throw error;
  }
}

async function follow(ask: FetchAsk, place: FetchPlace) {
  let hop: Hop = {
    url: parseUrl(ask.url),
    method: ask.method ?? 'GET',
    headers: checkHeaders(ask.headers ?? {}),
    body: ask.body,
  };
  for (let count = 0; ; count += 1) {
    const answer = await askHop(hop, place);
    const next = nextHop(hop, answer);
    if (next === undefined) return read(hop, answer, ask, place.config);
    answer.destroy();
    if (count === MOST_REDIRECTS) {
      throw new GoondanError('E_FETCH_REDIRECT', `${shown(ask.url)} redirects more than ${MOST_REDIRECTS} times.`);
    }
    hop = next;
  }
}

type Hop = Pick<HttpRequest, 'url' | 'method' | 'headers' | 'body'>;

/** Tries the addresses of the host in order, and returns the first response. */
async function askHop(hop: Hop, { config, resolve, signal }: FetchPlace): Promise<IncomingMessage> {
  const addresses = await findAddresses(hop.url, config, resolve);
  const headers = headersFor(hop.url, hop.headers, config);
  let failure: unknown;
  for (const address of addresses.slice(0, MOST_ADDRESSES)) {
    try {
      return await sendRequest({ ...hop, address, headers, signal });
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  const reason = failure instanceof Error ? failure.message : String(failure);
  throw new GoondanError('E_FETCH_FAILED', `${JSON.stringify(hostOf(hop.url))} cannot be reached: ${reason}`, {
    cause: failure,
  });
}

/** Returns the next request if the response is a redirect; otherwise `undefined`. */
function nextHop(hop: Hop, { statusCode = 0, headers: { location } }: IncomingMessage): Hop | undefined {
  if (location === undefined || ![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const url = parseUrl(location, hop.url);
  const isSameOrigin = url.origin === hop.url.origin;
  // Headers and body are not sent to another origin.
  const headers = isSameOrigin ? hop.headers : {};
  const isHarmless = hop.method === 'GET' || hop.method === 'HEAD';
  if (isHarmless) return { ...hop, url, headers };
  if (statusCode < 307) return { url, headers, method: 'GET', body: undefined };
  if (isSameOrigin) return { ...hop, url };
  const problem = `${shown(hop.url.href)} redirects the posted body to another host`;
  throw new GoondanError('E_FETCH_REDIRECT', `${problem}.`);
}

async function read(hop: Hop, answer: IncomingMessage, ask: FetchAsk, config: FetchConfig) {
  const body = await readBody(answer, config.bodyLimit).catch((error: unknown) => {
    if (GoondanError.is(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new GoondanError('E_FETCH_FAILED', `The answer of ${shown(hop.url.href)} broke off: ${reason}`, {
      cause: error,
    });
  });
  const contentType = answer.headers['content-type'] ?? '';
  const { title, text } = toReadable(body.bytes, contentType, { base: hop.url, isRaw: ask.raw === true });
  const isCut = body.isCut || text.length > config.outputLimit;
  const headers = shownHeaders.flatMap((name) => {
    const value = answer.headers[name];
    return typeof value === 'string' ? [[name, value.slice(0, 500)] as const] : [];
  });
  return {
    url: hop.url.href,
    status: answer.statusCode ?? 0,
    contentType: contentType.slice(0, 200),
    ...(title === undefined ? {} : { title }),
    text: text.slice(0, config.outputLimit),
    ...(isCut ? { cut: true } : {}),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
  };
}

function shown(url: string): string {
  return JSON.stringify(url.length > 200 ? `${url.slice(0, 200)}…` : url);
}
