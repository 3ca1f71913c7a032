/**
 * Runs one call to a provider's model, from the request to the reply, within its deadlines and until the caller's
 * signal aborts.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { JsonSchema, ModelDelta, ModelParams, ModelReply, ProviderOptions } from '@goondan/types';
import type { Clock } from '../../../ports/clock.ts';
import { filesIn } from '../../files/files-in.ts';
import type { Fetch, ModelRequest } from '../model-port.ts';
import type { ModelShape } from './model-shape.ts';
import type { ProviderName } from './provider-table.ts';
import type { CallSettings } from './read-provider-options.ts';
import { restoreToolNames } from './restore-tool-names.ts';
import { readStream, type StreamReading } from './read-stream.ts';
import type { CacheRules } from './set-breakpoints.ts';
import { toCallOptions } from './to-call-options.ts';
import { type FailedCall, toModelError } from './to-model-error.ts';
import { findUnfitFile, refuseUnfitInput } from './find-unfit-file.ts';
import { loadFiles } from './load-files.ts';
import type { PromptFiles, PromptMemo } from './to-prompt.ts';
import { toReply } from './to-reply.ts';
import { toReplyPart } from './to-reply-part.ts';
import { watchCall } from './watch-call.ts';

export interface ProviderCall extends Omit<FailedCall, 'accepted' | 'hasFiles' | 'now'> {
  readonly name: ProviderName;
  readonly package: string;
  readonly modelId: string;
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly settings: CallSettings;
  readonly params: ModelParams;
  readonly memo: PromptMemo;
  readonly cache?: CacheRules | undefined;
  readonly schemaOptions?: ((schema: JsonSchema) => ProviderOptions) | undefined;
  readonly placeOfResult: PromptFiles['placeOfResult'];
  /** Everything that shapes the body of a request, beside the request itself. */
  readonly shape: ModelShape;
  make(send: typeof fetch): LanguageModelV4;
}

/**
 * Calls the model. **Errors** — the signal's reason when it aborts, `E_MODEL_TIMEOUT` at a deadline, otherwise the
 * error of `toModelError`.
 */
export async function callProvider(request: ModelRequest, call: ProviderCall): Promise<ModelReply> {
  const { name: provider, label, modelId: model, settings } = call;
  const watch = watchCall(call, settings.deadlines, request.signal, {
    onSent: (body) => request.onSent?.({ provider, package: call.package, model, body, settings: call.shape }),
    onBegun: () => request.onBegun?.(),
  });
  const listener = guardListener(request);
  const reading = { provider, label, signal: watch.signal, onDelta: listener.onDelta };
  const readReply = async (made: LanguageModelV4, options: LanguageModelV4CallOptions) => {
    if (!settings.stream) return readGenerated(await watch.untilEnded(made.doGenerate(options)), reading);
    const { stream } = await watch.untilEnded(made.doStream(options));
    return readStream(stream, reading);
  };
  try {
    const made = call.make(watch.fetch);
    const files = { loaded: await loadFiles(request), placeOfResult: call.placeOfResult };
    refuseUnfitInput(request.messages, files, label);
    const options = toCallOptions(request, settings, { ...call, files }, watch.signal);
    return restoreToolNames(await readReply(made, options), request);
  } catch (error) {
    if (watch.signal.aborted) throw watch.signal.reason;
    if (listener.broken !== undefined) throw listener.broken.error;
    throw (
      findUnfitFile(error, request.messages, label) ??
      toModelError(error, {
        ...call,
        accepted: watch.accepted,
        hasFiles: request.messages.some((message) => filesIn(message).length > 0),
        now: call.clock.now(),
      })
    );
  } finally {
    watch.close();
  }
}

/**
 * Remembers an error thrown by a listener. The error is the caller's mistake, and must not be reported as the
 * provider's.
 */
function guardListener(request: ModelRequest) {
  const listener = {
    broken: undefined as { error: unknown } | undefined,
    onDelta: (delta: ModelDelta) => {
      try {
        request.onDelta(delta);
      } catch (error) {
        listener.broken = { error };
        throw error;
      }
    },
  };
  return listener;
}

/**
 * Reads the reply of a call that does not stream. Each text is passed to listeners as one delta, so listeners work with
 * and without streaming.
 */
function readGenerated(result: LanguageModelV4GenerateResult, reading: StreamReading): ModelReply {
  const content = result.content.flatMap((part) => toReplyPart(part, reading.provider) ?? []);
  const { finishReason, usage, response } = result;
  const reply = toReply({ content, finishReason, usage, response }, reading.label);
  for (const part of reply.content) {
    if ((part.type === 'text' || part.type === 'reasoning') && part.text !== '') {
      reading.onDelta({ type: part.type, text: part.text });
    }
  }
  return reply;
}
