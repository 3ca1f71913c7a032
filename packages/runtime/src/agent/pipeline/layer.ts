/** One registered middleware, and the order of the layers in a chain. */
import type { Budget } from '@goondan/types';
import type { Tier } from '../../config/declared-extension.ts';
import type { LayerSummary } from '../../ipc/from-agent.ts';

export interface Layer extends Omit<LayerSummary, 'timeoutMs'> {
  /** The extension's own function. Its result is unchecked; the onion checks it. */
  readonly run: (context: object) => unknown;
  /** Notes that the code of this layer runs now: it begins, or its `next()` has settled. */
  readonly mark?: (() => void) | undefined;
  readonly timeoutMs: number | undefined;
  /** The budgets that a model layer reserves. */
  readonly budgets?: readonly Budget[];
}

const tierOrder: Record<Tier, number> = { swarm: 0, agent: 1, innermost: 2, hook: 3 };

/**
 * Sorts layers, outermost first: by tier, then priority, then registration (the sort is stable). In the tier `innermost`, the
 * order of the extensions comes before the priority, so that no extension there gets outside of an earlier one.
 */
export function sortLayers(layers: readonly Layer[]): Layer[] {
  const places = new Map<string, number>();
  for (const { extension, tier } of layers) {
    if (tier === 'innermost' && !places.has(extension)) places.set(extension, places.size);
  }
  const placeOf = ({ extension, tier }: Layer) => (tier === 'innermost' ? (places.get(extension) ?? 0) : 0);
  return layers.toSorted(
    (a, b) => tierOrder[a.tier] - tierOrder[b.tier] || placeOf(a) - placeOf(b) || a.priority - b.priority,
  );
}
