import type { ModelParams } from '@goondan/types';
import type { Provider } from './provider-table.ts';

/** The limit for a model that is unknown to the provider's package. */
const UNKNOWN_MODEL_TOKENS = 8_192;

/**
 * Returns the token limit for replies when none is configured: no limit, unless the provider requires one. The limit is
 * looked up on first use. For an unknown model, it warns once that the limit is a guess.
 */
export function defaultLimit(
  provider: Provider,
  { modelId, label, warn }: { modelId: string; label: string; warn: ((message: string) => void) | undefined },
) {
  let limit: Promise<Pick<ModelParams, 'maxTokens'>> | undefined;
  return () => (limit ??= look());

  async function look(): Promise<Pick<ModelParams, 'maxTokens'>> {
    if (provider.loadMostTokens === undefined) return {};
    const maxTokens = await provider.loadMostTokens(modelId);
    if (maxTokens !== undefined) return { maxTokens };
    warn?.(
      `The output limit of ${label} is not known, so its replies end after ${UNKNOWN_MODEL_TOKENS} tokens. ` +
        'Set `params.maxTokens` of the Model to change that.',
    );
    return { maxTokens: UNKNOWN_MODEL_TOKENS };
  }
}
