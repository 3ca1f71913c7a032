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
 * a process may have the next plan before it is in force. After that, the plan decides. So a call of a process with the
 * plan before, asked after the change, keeps the limits of that plan; and so does a waiting call of a model that no agent
 * of the plan has, because its limits are those of the provider still.
 */
export function followLimits(asked: LimitClaims, limits: () => ReadonlyMap<string, PlannedLimit>): () => LimitClaims {
  const before = limits();
  return () => (limits() === before ? asked : withLimits(asked, limits()));
}

function withLimits({ claims, words }: LimitClaims, limits: ReadonlyMap<string, PlannedLimit>): LimitClaims {
  const planned = claims.map(({ counter }) => limits.get(counter));
  return {
    // The claim stays also without a limit, because the process settles its claims by position.
    claims: claims.map((claim, index) => {
      const limit = planned[index]?.limit ?? claim.limit;
      // A call that needs more than the limit allows goes alone.
      return { ...claim, limit, amount: Math.min(claim.amount, limit) };
    }),
    words: words.map((asked, index) => planned[index]?.words || asked),
  };
}
