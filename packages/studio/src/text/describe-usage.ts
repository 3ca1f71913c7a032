/** Describes the tokens of a turn: all of them, and then its own part and that of the agents that it called. */
import type { TurnList } from '@goondan/cli/studio';

type Turn = TurnList['turns'][number];
type Usage = NonNullable<Turn['usage']>;

/** Returns nothing for a turn that runs. */
export function describeUsage({ usage, called }: Pick<Turn, 'usage' | 'called'>): readonly string[] {
  if (usage === undefined) return [];
  const whole = describeCounts(usage, ' tokens');
  if (called === undefined) return [whole];
  return [`${whole}: own ${describeCounts(without(usage, called))}, called agents ${describeCounts(called)}`];
}

type Counts = Pick<Usage, 'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'cacheWriteTokens'>;

function without(usage: Counts, called: Counts): Counts {
  return {
    inputTokens: usage.inputTokens - called.inputTokens,
    outputTokens: usage.outputTokens - called.outputTokens,
    cachedInputTokens: (usage.cachedInputTokens ?? 0) - (called.cachedInputTokens ?? 0),
    cacheWriteTokens: (usage.cacheWriteTokens ?? 0) - (called.cacheWriteTokens ?? 0),
  };
}

/** Returns input → output, with the part of the input that the provider read from its cache or wrote to it. */
function describeCounts(counts: Counts, unit = ''): string {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = counts;
  const cache = [
    ...(cachedInputTokens === 0 ? [] : [`${cachedInputTokens} from the cache`]),
    ...(cacheWriteTokens === 0 ? [] : [`${cacheWriteTokens} to the cache`]),
  ];
  return `${inputTokens} → ${outputTokens}${unit}${cache.length === 0 ? '' : ` (${cache.join(', ')})`}`;
}
