/** Opens a provider's model at a local server and calls it. For tests only. */
import type { JsonObject, ModelDelta, ModelMessage, ModelReply } from '@goondan/types';
import { systemClock } from '../../../../ports/clock.ts';
import type { Model, ModelRequest } from '../../model-port.ts';
import { openProviderModel } from '../open-provider-model.ts';
import type { ProviderCase } from './provider-cases.ts';

export const testKey = 'sk-canary-0123456789abcdef';

export function openAt(url: string, { provider, model, path }: ProviderCase, options: JsonObject = {}): Model {
  const version = path.split('/')[1] ?? '';
  const spec = { provider, model, apiKey: testKey, endpoint: `${url}/${version}`, options };
  return openProviderModel(provider, spec, { clock: systemClock, environment: {}, folder: '.' });
}

export interface Asked {
  readonly reply: ModelReply;
  readonly deltas: readonly ModelDelta[];
}

export async function ask(
  model: Model,
  messages: readonly ModelMessage[],
  request: Partial<ModelRequest> = {},
): Promise<Asked> {
  const deltas: ModelDelta[] = [];
  const reply = await model.generate({
    messages,
    tools: [],
    params: {},
    signal: new AbortController().signal,
    turnId: 'turn-1',
    onDelta: (delta) => void deltas.push(delta),
    ...request,
  });
  return { reply, deltas };
}

/** Returns the error of a rejected promise; throws when the promise resolves. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  const outcome = await work.then(
    () => ({ failed: false, error: undefined }),
    (error: unknown) => ({ failed: true, error }),
  );
  if (!outcome.failed) throw new Error('Expected a failure, but it worked.');
  return outcome.error;
}
