/** A model that asks another one and writes down what it says, errors included; only a cancelled call leaves no trace. */
import { GoondanError, type ModelDelta } from '@goondan/types';
import type { Model } from '../model-port.ts';
import { toCassetteRequest, type CassetteEntry, type RecordedError } from './cassette-entry.ts';
import type { CassetteWriter } from './cassette-file.ts';

export function recordModel(upstream: Model, cassette: CassetteWriter): Model {
  return {
    async generate(request) {
      const deltas: ModelDelta[] = [];
      const call = cassette.beginCall();
      // Taken before the call: what the caller does to its messages meanwhile is not what was asked.
      const recorded = toCassetteRequest(request);
      const write = (outcome: CassetteEntry['outcome']) =>
        cassette.append({ call, request: recorded, deltas, outcome });
      const onDelta = (delta: ModelDelta) => {
        deltas.push(delta);
        request.onDelta(delta);
      };

      const reply = await upstream.generate({ ...request, onDelta }).catch(async (error: unknown) => {
        if (!request.signal.aborted) await write({ error: toRecordedError(error) });
        throw error;
      });
      await write({ reply });
      return reply;
    },
  };
}

function toRecordedError(error: unknown): RecordedError {
  if (error instanceof GoondanError) return { code: error.code, message: error.message, retryable: error.retryable };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'E_MODEL_FAILED', message, retryable: false };
}
