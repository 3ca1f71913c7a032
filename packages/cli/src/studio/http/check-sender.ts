/**
 * Whether a request comes from Studio's own page: no page of somebody else gets an answer, whatever name it reached
 * this machine under (DNS rebinding), and whatever a browser sends along for it.
 */

/** `isPage`: what is asked for is the page itself, not its data. **Errors** — `E_STUDIO_FORBIDDEN`, `E_STUDIO_REQUEST` without a Host. */
import { Refusal } from '@goondan/types/http';
export function checkSender({ headers, method }: Request, port: number, isPage: boolean): void {
  const authorities = [`127.0.0.1:${port}`, `localhost:${port}`];
  const host = headers.get('host');
  if (host === null || host === '') {
    throw new Refusal(400, 'E_STUDIO_REQUEST', 'The request names no host.');
  }
  if (!authorities.includes(host)) throw forbidden(421, `Studio is not ${quote(host)}.`);
  const origin = headers.get('origin');
  if (origin !== null && origin !== `http://${host}`) throw forbidden(403, `A page of ${quote(origin)} asks.`);
  const site = headers.get('sec-fetch-site');
  // A browser says it of every request to this machine, and no page can change it.
  if (site !== null && !isFromHere(site, headers, isPage)) throw forbidden(403, 'A page of somebody else asks.');
  if (method === 'POST' && origin === null && site !== 'same-origin') {
    throw forbidden(403, 'The request does not say which page it comes from.');
  }
}

/** Somebody else's page may link to Studio's page, as a mail or a chat does, and to nothing else of it. */
function isFromHere(site: string, headers: Headers, isPage: boolean): boolean {
  return site === 'same-origin' || site === 'none' || (isPage && headers.get('sec-fetch-mode') === 'navigate');
}

function forbidden(status: number, message: string): Refusal {
  return new Refusal(status, 'E_STUDIO_FORBIDDEN', message);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
