/** Describes tokens: those of a turn, and in brackets its own part and that of the agents that it called. */
import type { TurnList } from '@goondan/cli/studio';

type Usage = NonNullable<TurnList['turns'][number]['usage']>;

export function describeUsage(usage: Usage, called: Usage | undefined): string {
  if (called === undefined) return `${describeTokens(usage)} tokens`;
  const own = {
    inputTokens: usage.inputTokens - called.inputTokens,
    outputTokens: usage.outputTokens - called.outputTokens,
  };
  return `${describeTokens(usage)} tokens (own ${describeTokens(own)}, called ${describeTokens(called)})`;
}

/** Returns input → output, with the part of the input that the provider read from its cache or wrote to it. */
function describeTokens(
  usage: Pick<Usage, 'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'cacheWriteTokens'>,
): string {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const cache = [
    ...(cachedInputTokens === 0 ? [] : [`${cachedInputTokens} from cache`]),
    ...(cacheWriteTokens === 0 ? [] : [`${cacheWriteTokens} to cache`]),
  ];
  return [`${inputTokens} → ${outputTokens}`, ...cache].join(', ');
}
