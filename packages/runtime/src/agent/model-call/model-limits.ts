/** The limits of a model as claims of a call. */
import { describeLimit, type LimitField, nameLimit } from '../../counters/limit-counter.ts';
import type { ModelLimits } from '../../config/model-spec.ts';
import type { CallClaim } from '../../ipc/from-agent.ts';
import type { ModelSource } from '../model/model-port.ts';

/** A claim with its measure and the words for it. */
export interface LimitClaim {
  readonly claim: CallClaim;
  readonly measure: 'calls' | 'tokens';
  /** The limit in words, such as `requestsPerMinute: 20 of Model/main`. */
  readonly words: string;
}

/** Lists the limits of a model. A recording also has those of the model that it records. */
export function limitsOf(entries: ModelSource['entries'], modelRef: string): readonly ModelLimits[] {
  const entry = Object.hasOwn(entries, modelRef) ? entries[modelRef] : undefined;
  if (entry === undefined || 'generate' in entry) return [];
  const { mode, upstream } = entry.options ?? {};
  const isRecording = entry.provider === 'cassette' && mode === 'record' && typeof upstream === 'string';
  return [...(entry.limits === undefined ? [] : [entry.limits]), ...(isRecording ? limitsOf(entries, upstream) : [])];
}

/**
 * Returns the claims of one call. A call that needs more tokens than the limit allows goes alone in its minute, because the
 * estimate may be too high.
 */
export function claimLimits({ countedAs, ...limits }: ModelLimits, tokens: number): readonly LimitClaim[] {
  const claims: [LimitField, Pick<CallClaim, 'window' | 'amount'> & Pick<LimitClaim, 'measure'>][] = [
    ['concurrent', { measure: 'calls', window: 'call', amount: 1 }],
    ['requestsPerMinute', { measure: 'calls', window: 'minute', amount: 1 }],
    ['tokensPerMinute', { measure: 'tokens', window: 'minute', amount: tokens }],
  ];
  return claims.flatMap(([field, { measure, window, amount }]) => {
    const limit = limits[field];
    if (limit === undefined) return [];
    const counter = nameLimit(countedAs, field);
    const claim = { scope: 'swarm', counter, window, amount: Math.min(amount, limit), limit } as const;
    return [{ claim, measure, words: describeLimit(countedAs, field, limit) }];
  });
}
