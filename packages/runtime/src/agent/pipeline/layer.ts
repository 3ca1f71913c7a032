/** One registered middleware, and the order of the layers in a chain. */
import type { Tier } from '../../config/declared-extension.ts';
import type { LayerSummary } from '../../ipc/from-agent.ts';

export interface Layer extends Omit<LayerSummary, 'timeoutMs'> {
  /** The extension's own function. Its result is unchecked; the onion checks it. */
  readonly run: (context: object) => unknown;
  readonly timeoutMs: number | undefined;
}

const tierOrder: Record<Tier, number> = { swarm: 0, agent: 1, hook: 2 };

/** Sorts layers, outermost first: by tier, then priority, then registration (the sort is stable). */
export function sortLayers(layers: readonly Layer[]): Layer[] {
  return layers.toSorted((a, b) => tierOrder[a.tier] - tierOrder[b.tier] || a.priority - b.priority);
}
