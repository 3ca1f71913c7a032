/**
 * Who may look. Whoever has the token of the link gets a cookie, and only with that is anything answered.
 *
 * 1. The token leaves the address bar at once: its request is answered with a cookie and sent on.
 * 2. A browser is started with a ticket instead, which works once: its command line is there for others to read.
 * 3. Secrets are compared in a time that does not depend on what they have in common.
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

  /** `port`: cookies do not tell ports apart, and two Studios may run. */
  constructor({ port, token = newSecret(), clock = systemClock }: SessionOptions) {
    this.token = token;
    this.#cookieName = `gdn-studio-${port}`;
    this.#clock = clock;
  }

  /** Good for one minute, and once. */
  newTicket(): string {
    const secret = newSecret();
    this.#ticket = { secret, until: this.#clock.elapsed() + TICKET_MS };
    return secret;
  }

  /** **Errors** — `E_STUDIO_FORBIDDEN`. */
  enter(token: string, { headers }: Request): Response {
    if (!isSame(token, this.token) && !this.#takeTicket(token)) throw stranger('This is not the token of this Studio.');
    const cookie = { 'Set-Cookie': `${this.#cookieName}=${this.#cookieValue}; Path=/; HttpOnly; SameSite=Strict` };
    // Where a page of another site has the link, browsers keep the cookie from what it is sent on to: a page of ours sends on.
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

export interface SessionOptions {
  readonly port: number;
  /** Made up when absent. */
  readonly token?: string;
  readonly clock?: Clock;
}

function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
}

function isSame(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

/** All of one length. */
function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher('sha256').update(text).digest();
}

function stranger(message: string): Refusal {
  return new Refusal(401, 'E_STUDIO_FORBIDDEN', message);
}
