import type { ModelParams } from '@goondan/types';
import type { Provider } from './provider-table.ts';

/** The limit for a model that the provider's package does not know. */
const UNKNOWN_MODEL_TOKENS = 8_192;

/**
 * The limit of replies for which nobody sets one: none, unless the provider needs one. Looked up when it is first asked
 * for; a limit that is only a guess is told once, through `warn`.
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
      `How much ${label} can write is not known; its replies end after ${UNKNOWN_MODEL_TOKENS} tokens. ` +
        'Set `params.maxTokens` of the Model to change that.',
    );
    return { maxTokens: UNKNOWN_MODEL_TOKENS };
  }
}
