/**
 * A model that repeats the replies of a cassette, call by call, without a network. A request that differs from the
 * recorded one fails and does not advance the position, so the same request fails again in the same way.
 */
import { GoondanError, isErrorCode, modelFailures } from '@goondan/types';
import { defined } from '../../../json/defined.ts';
import type { Model } from '../model-port.ts';
import { toCassetteRequest, type CassetteEntry } from './cassette-entry.ts';
import { describeDifference } from './describe-difference.ts';

export function replayModel(entries: readonly CassetteEntry[], name: string): Model {
  let position = 0;
  return {
    // The next request is compared with the recording, so it must have the same form.
    takesSchema: () => entries[position]?.request.outputSchema !== undefined,
    async generate(request) {
      request.signal.throwIfAborted();
      const entry = entries[position];
      if (entry === undefined) {
        throw new GoondanError(
          'E_CASSETTE_END',
          `The cassette ${name} has ${entries.length} calls; the program made one more.`,
        );
      }
      const difference = describeDifference(entry.request, toCassetteRequest(request));
      if (difference !== undefined) {
        const which = `Call ${position + 1} of the cassette ${name}`;
        throw new GoondanError('E_CASSETTE_MISMATCH', `${which} differs from the recording ${difference}`);
      }
      position += 1;
      request.onSent?.({ provider: 'cassette' });
      for (const delta of entry.deltas) request.onDelta(delta);
      if ('reply' in entry.outcome) return structuredClone(entry.outcome.reply);
      const { code, message, retryable, failure } = entry.outcome.error;
      // Throws the recorded error again, without `retryAfterMs`, because a replay does not need to wait.
      throw new GoondanError(isErrorCode(code) ? code : 'E_MODEL_FAILED', message, {
        retryable,
        ...defined({ failure: modelFailures.find((kind) => kind === failure) }),
      });
    },
  };
}
