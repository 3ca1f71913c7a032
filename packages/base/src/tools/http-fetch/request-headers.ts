/** The headers of a request: the bundle's headers for the host, permitted headers of the model, and our own. */
import { GoondanError } from '@goondan/types';
import type { FetchConfig } from './fetch-config.ts';
import { hostOf } from './find-address.ts';

/** Headers that a model must not set: they concern identity, the connection or the origin of a request. */
const reserved =
  /^(?:host|cookie2?|authorization|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|via|forwarded|x-forwarded-.*|x-real-ip|accept-encoding|proxy-.*|sec-.*|metadata.*|x-aws-.*|x-google-.*)$/;
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/;
// Allows visible characters, spaces and tabs.
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]{0,4000}$/;

/** Checks the headers that the model set. Throws `E_FETCH_HEADER`. */
export function checkHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (!headerName.test(lower)) throw refused(name, 'is not a valid header name');
    if (reserved.test(lower)) throw refused(name, 'cannot be set by a call');
    if (!headerValue.test(value)) throw refused(name, 'has an invalid value');
    checked[lower] = value;
  }
  return checked;
}

/**
 * Returns the headers for a request. `given` holds the model's headers, which must be checked already. They may be sent
 * only to the origin for which the model set them.
 */
export function headersFor(
  url: URL,
  given: Readonly<Record<string, string>>,
  config: FetchConfig,
): Record<string, string> {
  const ofBundle = Object.hasOwn(config.headers, hostOf(url)) ? (config.headers[hostOf(url)] ?? {}) : {};
  // Headers of the bundle may contain secrets, so they are not sent unencrypted, unless the bundle allows that host.
  const isSafe = url.protocol === 'https:' || config.allow.includes(hostOf(url));
  return {
    'user-agent': 'goondan-http-fetch',
    accept: 'text/html, application/json, text/*, */*;q=0.5',
    ...given,
    ...(isSafe ? Object.fromEntries(Object.entries(ofBundle).map(([name, value]) => [name.toLowerCase(), value])) : {}),
    'accept-encoding': 'gzip, br',
    host: url.host,
  };
}

function refused(name: string, problem: string): GoondanError {
  return new GoondanError('E_FETCH_HEADER', `The header ${JSON.stringify(name.slice(0, 100))} ${problem}.`);
}
