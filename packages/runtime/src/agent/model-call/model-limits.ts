/** The limits of a model as claims of a call. */
import { defined } from '../../json/defined.ts';
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
  const { concurrent, requestsPerMinute, tokensPerMinute } = limits;
  const claims = defined({
    concurrent: concurrent && ({ window: 'call', amount: 1, limit: concurrent } as const),
    requestsPerMinute: requestsPerMinute && ({ window: 'minute', amount: 1, limit: requestsPerMinute } as const),
    tokensPerMinute:
      tokensPerMinute &&
      ({ window: 'minute', amount: Math.min(tokens, tokensPerMinute), limit: tokensPerMinute } as const),
  });
  return Object.entries(claims).flatMap(([field, claim]) => {
    if (typeof claim !== 'object') return [];
    const counter = JSON.stringify(['model', countedAs, field]);
    const measure = field === 'tokensPerMinute' ? 'tokens' : 'calls';
    return [
      { claim: { scope: 'swarm', counter, ...claim }, measure, words: `${field}: ${claim.limit} of ${countedAs}` },
    ];
  });
}
