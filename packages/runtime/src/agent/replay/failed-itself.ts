import type { ChainRecord } from '../../trace/turn-trace.ts';
import type { EffectRecord } from '../../trace/effect-record.ts';

/**
 * Returns true if a failed layer threw its own error, which means that nothing inside it failed with the same error.
 */
export function failedItself(
  { layers, inside, id }: ChainRecord,
  index: number,
  effects: readonly EffectRecord[],
): boolean {
  const error = layers[index]?.error;
  if (error === undefined) return false;
  const inner = layers.slice(index + 1).some((layer) => layer.error === error);
  const chains = inside.some((chain) => chain.error === error);
  const asked = effects.find(({ key }) => key === id)?.outcome;
  return !inner && !chains && !(asked?.ok === false && error.includes(asked.error.message));
}
