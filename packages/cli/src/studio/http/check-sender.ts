/**
 * Checks that a request comes from Studio's own page. Foreign pages get no answer, whatever host name they use (DNS
 * rebinding) and whatever headers their browser sends.
 */
import { Refusal } from '@goondan/types/http';

/**
 * `isPage`: the request is for the page itself, not for its data. **Errors** — `E_STUDIO_FORBIDDEN`; `E_STUDIO_REQUEST`
 * when the Host header is missing.
 */
export function checkSender({ headers, method }: Request, port: number, isPage: boolean): void {
  const authorities = [`127.0.0.1:${port}`, `localhost:${port}`];
  const host = headers.get('host');
  if (host === null || host === '') {
    throw new Refusal(400, 'E_STUDIO_REQUEST', 'The request names no host.');
  }
  if (!authorities.includes(host)) throw forbidden(421, `Studio is not ${quote(host)}.`);
  const origin = headers.get('origin');
  if (origin !== null && origin !== `http://${host}`)
    throw forbidden(403, `The request comes from a page of ${quote(origin)}.`);
  const site = headers.get('sec-fetch-site');
  // A browser sends `Sec-Fetch-Site` with every request to this machine, and no page can change it.
  if (site !== null && !isFromHere(site, headers, isPage))
    throw forbidden(403, 'The request comes from a page of another site.');
  if (method === 'POST' && origin === null && site !== 'same-origin') {
    throw forbidden(403, 'The request does not say which page it comes from.');
  }
}

/**
 * Accepts requests from Studio's own page and from the address bar. A page of another site, such as a web mail or a
 * chat, may link to Studio's page, but to nothing else.
 */
function isFromHere(site: string, headers: Headers, isPage: boolean): boolean {
  return site === 'same-origin' || site === 'none' || (isPage && headers.get('sec-fetch-mode') === 'navigate');
}

function forbidden(status: number, message: string): Refusal {
  return new Refusal(status, 'E_STUDIO_FORBIDDEN', message);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
