/** Sends a request and follows redirects. Each redirect is checked like a new request. */
import type { IncomingMessage } from 'node:http';
import { GoondanError } from '@goondan/types';
import type { FetchConfig } from './fetch-config.ts';
import { findAddresses, hostOf, parseUrl, type Resolve } from './find-address.ts';
import { type Hop, nextHop } from './next-hop.ts';
import { readBody } from './read-body.ts';
import { checkHeaders, headersFor } from './request-headers.ts';
import { sendRequest } from './send-request.ts';
import { shownUrl } from './shown-url.ts';
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
      const problem = `${shownUrl(ask.url)} did not answer within ${place.config.timeoutMs} ms`;
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
    const next = nextHop(hop, answer.statusCode, answer.headers.location);
    if (next === undefined) return read(hop, answer, ask, place.config);
    answer.destroy();
    if (count === MOST_REDIRECTS) {
      throw new GoondanError('E_FETCH_REDIRECT', `${shownUrl(ask.url)} redirects more than ${MOST_REDIRECTS} times.`);
    }
    hop = next;
  }
}

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

async function read(hop: Hop, answer: IncomingMessage, ask: FetchAsk, config: FetchConfig) {
  const body = await readBody(answer, config.bodyLimit).catch((error: unknown) => {
    if (GoondanError.is(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new GoondanError('E_FETCH_FAILED', `The answer of ${shownUrl(hop.url.href)} broke off: ${reason}`, {
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
