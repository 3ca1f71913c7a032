/**
 * Controls access to Studio. A browser that presents the link's token gets a cookie, and only requests with the cookie
 * are answered.
 *
 * 1. The token leaves the address bar at once: the response sets the cookie and redirects.
 * 2. A browser that `gdn` starts gets a one-time ticket instead of the token, because other users can read command
 *    lines.
 * 3. Secrets are compared in constant time.
 */
import { timingSafeEqual } from 'node:crypto';
import { type Clock, systemClock } from '@goondan/runtime/internal';
import { Refusal } from '@goondan/types/http';
import { sendOn } from './small-pages.ts';

const TICKET_MS = 60_000;

export class StudioSession {
  readonly token: string;
  readonly #cookieName: string;
  readonly #cookieValue = newSecret();
  readonly #clock: Clock;
  #ticket: { readonly secret: string; readonly until: number } | undefined;

  /**
   * The cookie's name includes `port`, because cookies do not distinguish ports and two Studios may run. `token` is the
   * token of the link; random when absent.
   */
  constructor({ port, token = newSecret(), clock = systemClock }: { port: number; token?: string; clock?: Clock }) {
    this.token = token;
    this.#cookieName = `gdn-studio-${port}`;
    this.#clock = clock;
  }

  /** Creates a ticket that works once, within one minute. */
  newTicket(): string {
    const secret = newSecret();
    this.#ticket = { secret, until: this.#clock.elapsed() + TICKET_MS };
    return secret;
  }

  /** **Errors** — `E_STUDIO_FORBIDDEN`. */
  enter(token: string, { headers }: Request): Response {
    if (!isSame(token, this.token) && !this.#takeTicket(token)) throw stranger('This is not the token of this Studio.');
    const cookie = { 'Set-Cookie': `${this.#cookieName}=${this.#cookieValue}; Path=/; HttpOnly; SameSite=Strict` };
    // If the link was on a page of another site, browsers withhold the cookie after an HTTP redirect, so our own page
    // redirects.
    if (headers.get('sec-fetch-site') === 'cross-site') return sendOn(cookie);
    return new Response(null, { status: 303, headers: { Location: '/', ...cookie } });
  }

  /** **Errors** — `E_STUDIO_FORBIDDEN`. */
  check({ headers }: Request): void {
    const cookies = (headers.get('cookie') ?? '').split(';').map((each) => each.trim().split('='));
    const isKnown = cookies.some(([name, value = '']) => name === this.#cookieName && isSame(value, this.#cookieValue));
    if (!isKnown) throw stranger('Studio does not know this browser.');
  }

  #takeTicket(given: string): boolean {
    const ticket = this.#ticket;
    if (ticket === undefined || !isSame(given, ticket.secret)) return false;
    this.#ticket = undefined;
    return this.#clock.elapsed() < ticket.until;
  }
}

function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
}

function isSame(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

/** Hashes a secret, so that all compared values have the same length. */
function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher('sha256').update(text).digest();
}

function stranger(message: string): Refusal {
  return new Refusal(401, 'E_STUDIO_FORBIDDEN', message);
}
