/**
 * Checks the tokens of requests at a control port.
 *
 * 1. Only hashes of tokens are kept, and no error or log line has one. Comparing hashes takes a time
 *    that says nothing about the token.
 * 2. A right token is checked in the store at most once in a few seconds. Removing it has an effect after this time.
 * 3. Wrong tokens are counted, and each makes the next check from its address slower. A token that was right at its last
 *    check never waits. The number of checks under way is bounded, for addresses with wrong tokens apart from the others: so
 *    a storm of wrong tokens does not keep a right token from another address waiting.
 */
import { createHash } from 'node:crypto';
import { GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { type Clock, sleep } from '../../ports/clock.ts';
import type { Tokens, TokenScope } from '../../store/cluster-store.ts';
import type { portLimits } from './port-limits.ts';

/** The owner of a token. */
export interface TokenOwner {
  readonly name: string;
  readonly scope: TokenScope;
}

export interface TokenGateDeps {
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly limits: typeof portLimits;
  /** Receives a line when an address sent its 1st, 10th, 100th, … wrong token. */
  readonly warn: (message: string) => void;
}

interface Strikes {
  count: number;
  last: number;
}

export class TokenGate {
  /** Tokens that were right at their last check, by their hash, oldest first. */
  readonly #kept = new Map<string, { readonly owner: TokenOwner; readonly until: number }>();
  readonly #checks = new Map<string, Promise<TokenOwner | undefined>>();
  readonly #checksOf = new Map<string, number>();
  /** The number of checks for addresses with wrong tokens, and for the others. */
  readonly #checksFor = { suspects: 0, others: 0 };
  /** The wrong tokens of each address, latest address last. */
  readonly #strikes = new Map<string, Strikes>();

  constructor(private readonly deps: TokenGateDeps) {}

  /**
   * Returns the owner of the token in an `Authorization` header. **Errors** — `E_CLUSTER_TOKEN` when the token is missing
   * or wrong; `E_CONTROL_FULL` when too many tokens are being checked; those of the store.
   */
  async admit(header: string | null, from: string): Promise<TokenOwner> {
    const token = tokenOf(header);
    if (token === undefined) throw refusal('The request has no token.');
    const key = createHash('sha256').update(token).digest('hex');
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.until > this.deps.clock.elapsed()) return kept.owner;
    const check =
      this.#checks.get(key) ?? (kept === undefined ? this.#begin(key, token, from) : this.#again(key, token, from));
    const owner = await check;
    if (owner === undefined) throw refusal('This token is not known.');
    return owner;
  }

  /** Returns false if the store does not have the token of the header any more. **Errors** — those of the store. */
  async isRight(header: string): Promise<boolean> {
    const token = tokenOf(header);
    return token !== undefined && (await this.deps.tokens.check(token)) !== undefined;
  }

  /** Checks a token in the store, once for all requests that bring it meanwhile. */
  #begin(key: string, token: string, from: string): Promise<TokenOwner | undefined> {
    const { mostChecks, mostChecksOfAddress } = this.deps.limits;
    const ofAddress = this.#checksOf.get(from) ?? 0;
    const group = this.#strikesOf(from) > 0 ? 'suspects' : 'others';
    if (this.#checksFor[group] >= mostChecks || ofAddress >= mostChecksOfAddress) {
      throw new GoondanError('E_CONTROL_FULL', 'Too many tokens are being checked.', { retryable: true });
    }
    this.#checksOf.set(from, ofAddress + 1);
    this.#checksFor[group] += 1;
    return this.#note(key, this.#checkSlowly(key, token, from), () => {
      this.#checksFor[group] -= 1;
      const left = (this.#checksOf.get(from) ?? 1) - 1;
      if (left === 0) this.#checksOf.delete(from);
      else this.#checksOf.set(from, left);
    });
  }

  /** Checks a token that was right before. There are at most `mostKept` of them, so they need no other bound. */
  #again(key: string, token: string, from: string): Promise<TokenOwner | undefined> {
    return this.#note(key, this.#check(key, token, from), () => undefined);
  }

  #note(key: string, checking: Promise<TokenOwner | undefined>, ended: () => void): Promise<TokenOwner | undefined> {
    const check = checking.finally(() => {
      this.#checks.delete(key);
      ended();
    });
    this.#checks.set(key, check);
    return check;
  }

  async #checkSlowly(key: string, token: string, from: string): Promise<TokenOwner | undefined> {
    const { clock, limits } = this.deps;
    const delay = Math.min(this.#strikesOf(from) * limits.slowMs, limits.slowestMs);
    if (delay > 0) await sleep(clock, delay);
    return this.#check(key, token, from);
  }

  async #check(key: string, token: string, from: string): Promise<TokenOwner | undefined> {
    const { tokens, clock, limits } = this.deps;
    const owner = await tokens.check(token);
    this.#kept.delete(key);
    if (owner === undefined) {
      this.#strike(from);
      return undefined;
    }
    this.#kept.set(key, { owner, until: clock.elapsed() + limits.keptMs });
    dropOldest(this.#kept, limits.mostKept);
    return owner;
  }

  #strikesOf(from: string): number {
    const strikes = this.#strikes.get(from);
    if (strikes === undefined) return 0;
    return this.deps.clock.elapsed() - strikes.last < this.deps.limits.strikeMs ? strikes.count : 0;
  }

  #strike(from: string): void {
    const count = this.#strikesOf(from) + 1;
    this.#strikes.delete(from);
    this.#strikes.set(from, { count, last: this.deps.clock.elapsed() });
    dropOldest(this.#strikes, this.deps.limits.mostAddresses);
    if (!/^10*$/.test(String(count))) return;
    this.deps.warn(`${from} sent ${count === 1 ? 'a wrong token' : `${count} wrong tokens`} to the control port.`);
  }
}

function tokenOf(header: string | null): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1];
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

function refusal(message: string): Refusal {
  return new Refusal(401, 'E_CLUSTER_TOKEN', message, { 'WWW-Authenticate': 'Bearer' });
}
