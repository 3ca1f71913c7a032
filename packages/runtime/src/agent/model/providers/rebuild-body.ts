/**
 * Builds the body of a recorded model request again, with the code that calls the provider: a `fetch` that sends nothing,
 * and no key. So the body is the same as long as the package of the provider is.
 */
import {
  GoondanError,
  type JsonObject,
  type ModelMessage,
  type ModelParams,
  type ToolCatalogItem,
} from '@goondan/types';
import type { Clock } from '../../../ports/clock.ts';
import type { SentRequest } from '../../../trace/model-request.ts';
import type { ModelRequest } from '../model-port.ts';
import { type ModelShape, specOf } from './model-shape.ts';
import { openProviderModel } from './open-provider-model.ts';
import { type ProviderName, providers } from './provider-table.ts';

/** A recorded request, and the settings of the model that got it. */
export interface RecordedRequest {
  readonly provider: string;
  readonly model: string;
  readonly settings: JsonObject;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolCatalogItem[];
  /** `params`, and every further field of the request that was recorded. */
  readonly fields: { readonly params: ModelParams };
}

/**
 * Returns the request as the provider's package makes it now. **Errors** — those of the model, if it refuses the request
 * before it is sent; `E_FILE_UNKNOWN` if a file of a message is gone. `readFile`: returns the bytes of a stored file.
 */
export async function rebuildBody(
  { provider, model, settings, messages, tools, fields }: RecordedRequest,
  clock: Clock,
  readFile: NonNullable<ModelRequest['readFile']>,
): Promise<SentRequest> {
  // Safe: only `shapeOf` makes the settings of a provider's model.
  const spec = { provider, model, apiKey: NO_KEY, endpoint: NOWHERE, ...specOf(settings as ModelShape) };
  if (!isProvider(provider)) throw new GoondanError('E_MODEL_UNKNOWN', `There is no provider "${provider}".`);
  const opened = openProviderModel(provider, spec, { clock, environment: {}, folder: '/', fetch: sendNothing });
  let sent: SentRequest | undefined;
  const request: ModelRequest = {
    ...fields,
    readFile,
    messages,
    tools,
    signal: new AbortController().signal,
    turnId: 'rebuilt',
    onDelta: () => undefined,
    onSent: (made) => void (sent = made),
  };
  const failure: unknown = await opened.generate(request).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (sent !== undefined) return sent;
  const why = failure instanceof Error ? failure.message : 'it made no request';
  throw new GoondanError('E_MODEL_FAILED', `${provider}/${model}: ${why}`, { cause: failure });
}

const NO_KEY = 'no-key';
const NOWHERE = 'http://localhost/v1';

function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(providers, name);
}

function sendNothing(): Promise<Response> {
  return Promise.reject(new Error('Nothing is sent.'));
}
