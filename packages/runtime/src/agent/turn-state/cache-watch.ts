/**
 * Remembers the last request of a conversation to each model, and finds the reason when the provider could not read from
 * its cache what that request had left there. Requests are compared only then: a call that reads all of it costs
 * nothing here. Only requests of steps are remembered, and only while the turn is watched.
 */
import type { TokenUsage } from '@goondan/types';
import type { CacheLoss } from '../../trace/cache-loss.ts';
import { type ComparedRequest, findCacheLoss } from './find-cache-loss.ts';

interface RememberedRequest extends ComparedRequest {
  /** The number of tokens that are in the cache after the request. */
  readonly cachedTokens: number;
}

/** The maximum number of models. The model with the oldest request is forgotten first. */
const MOST_MODELS = 4;

export class CacheWatch {
  readonly #last = new Map<string, RememberedRequest>();

  /** Compares a request with the last one, and remembers it. Returns undefined when nothing was lost. */
  compare(
    request: ComparedRequest,
    { cachedInputTokens = 0, cacheWriteTokens = 0 }: TokenUsage,
  ): CacheLoss | undefined {
    const last = this.#last.get(request.modelRef) ?? [...this.#last.values()].at(-1);
    this.#remember({ ...request, cachedTokens: cachedInputTokens + cacheWriteTokens });
    const tokens = (last?.cachedTokens ?? 0) - cachedInputTokens;
    if (last === undefined || tokens <= 0) return undefined;
    const found = findCacheLoss(last, request);
    return found && { ...found, tokens };
  }

  #remember(request: RememberedRequest): void {
    this.#last.delete(request.modelRef);
    this.#last.set(request.modelRef, request);
    const [oldest] = this.#last.keys();
    if (this.#last.size > MOST_MODELS && oldest !== undefined) this.#last.delete(oldest);
  }
}
