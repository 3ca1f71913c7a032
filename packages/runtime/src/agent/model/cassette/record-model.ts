/** A model that calls another model and records its replies and errors. Only cancelled calls are not recorded. */
import { GoondanError, type ModelDelta } from '@goondan/types';
import { defined } from '../../../json/defined.ts';
import type { Model } from '../model-port.ts';
import { toCassetteRequest, type CassetteEntry } from './cassette-entry.ts';
import type { openCassetteWriter } from './cassette-file.ts';

export function recordModel(upstream: Model, cassette: Awaited<ReturnType<typeof openCassetteWriter>>): Model {
  return {
    takesSchema: (schema, tools) => upstream.takesSchema?.(schema, tools) ?? false,
    async generate(request) {
      const deltas: ModelDelta[] = [];
      const call = cassette.beginCall();
      // Copied before the call: the caller may change its messages while the call runs.
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

function toRecordedError(error: unknown) {
  if (GoondanError.is(error)) {
    const { code, message: words, retryable, failure } = error;
    return { code, message: words, retryable, ...defined({ failure }) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'E_MODEL_FAILED', message, retryable: false };
}
