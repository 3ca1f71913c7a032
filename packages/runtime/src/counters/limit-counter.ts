/** The limits of a model as counters: their names, and the words for people. */
import { nameCounter } from './counter-name.ts';

export type LimitField = 'concurrent' | 'requestsPerMinute' | 'tokensPerMinute';

/** Names the counter of a limit inside its scope, the swarm. `countedAs`: the name of the model in the swarm. */
export function nameLimit(countedAs: string, field: LimitField): string {
  return JSON.stringify(['model', countedAs, field]);
}

/** Returns the limit in words, such as `requestsPerMinute: 20 of Model/main`. */
export function describeLimit(countedAs: string, field: LimitField, limit: number): string {
  return `${field}: ${limit} of ${countedAs}`;
}

/** A limit of a plan. */
export interface PlannedLimit {
  readonly limit: number;
  readonly words: string;
}

/** Lists limits of models by the whole names of their counters. */
export function readLimits(
  models: Iterable<{ readonly countedAs: string } & { readonly [Field in LimitField]?: number }>,
): ReadonlyMap<string, PlannedLimit> {
  const limits = new Map<string, PlannedLimit>();
  for (const { countedAs, ...model } of models) {
    for (const field of FIELDS) {
      const limit = model[field];
      if (limit === undefined) continue;
      limits.set(nameCounter('swarm', nameLimit(countedAs, field), NOWHERE), {
        limit,
        words: describeLimit(countedAs, field, limit),
      });
    }
  }
  return limits;
}

const FIELDS: readonly LimitField[] = ['concurrent', 'requestsPerMinute', 'tokensPerMinute'];
/** A counter of the swarm has no place. */
const NOWHERE = { agentName: '', instanceKey: '', turnId: '' };
