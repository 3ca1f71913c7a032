/** Lets a waiting call follow the limits of the plan, so that a reload which raises or removes a limit ends its wait. */
import type { Claim } from '../../counters/claim.ts';
import type { PlannedLimit } from '../../counters/limit-counter.ts';

/** The claims of a waiting call, and the words for each of them. */
export interface LimitClaims {
  readonly claims: readonly Claim[];
  readonly words: readonly string[];
}

/**
 * Returns a function that returns the claims at this moment. They are those of the process until the plan changes, because
 * a process may have the next plan before it is in force. After that, the plan decides.
 */
export function followLimits(asked: LimitClaims, limits: () => ReadonlyMap<string, PlannedLimit>): () => LimitClaims {
  const before = limits();
  return () => (limits() === before ? asked : withLimits(asked, limits()));
}

function withLimits({ claims, words }: LimitClaims, limits: ReadonlyMap<string, PlannedLimit>): LimitClaims {
  const planned = claims.map(({ counter }) => limits.get(counter) ?? NO_LIMIT);
  return {
    claims: claims.map((claim, index) => {
      const { limit } = planned[index] ?? NO_LIMIT;
      // A call that needs more than the limit allows goes alone.
      return { ...claim, limit, amount: Math.min(claim.amount, limit) };
    }),
    words: planned.map((each, index) => (each === NO_LIMIT ? (words[index] ?? '') : each.words)),
  };
}

/** The claim stays, because the process settles its claims by position. */
const NO_LIMIT: PlannedLimit = { limit: Number.MAX_SAFE_INTEGER, words: '' };
