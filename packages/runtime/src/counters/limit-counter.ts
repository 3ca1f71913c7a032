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

/** The limits that a model of the plan does not have. */
export const NO_LIMIT: PlannedLimit = { limit: Number.MAX_SAFE_INTEGER, words: '' };

type LimitedModel = { readonly countedAs: string } & { readonly [Field in LimitField]?: number };

/**
 * Lists the limits of models, given with the names that agents have for them, by the whole names of their counters. A
 * limit that a model does not have is `NO_LIMIT`, so that it can be told from a limit of a model that is not given.
 */
export function readLimits(
  models: Iterable<readonly [name: string, model: { readonly limits?: LimitedModel }]>,
): ReadonlyMap<string, PlannedLimit> {
  const limits = new Map<string, PlannedLimit>();
  for (const [name, { limits: model = { countedAs: name } }] of models) {
    const { countedAs } = model;
    for (const field of FIELDS) {
      const limit = model[field];
      limits.set(
        nameCounter('swarm', nameLimit(countedAs, field), NOWHERE),
        limit === undefined ? NO_LIMIT : { limit, words: describeLimit(countedAs, field, limit) },
      );
    }
  }
  return limits;
}

const FIELDS: readonly LimitField[] = ['concurrent', 'requestsPerMinute', 'tokensPerMinute'];
/** A counter of the swarm has no place. */
const NOWHERE = { agentName: '', instanceKey: '', turnId: '' };
