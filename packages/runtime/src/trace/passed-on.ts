/**
 * Tells where an error began. The record of every chain and layer around the origin has the same error, so without this
 * every part of a failed turn would look guilty.
 */
import type { ChainRecord, LayerRecord } from './turn-trace.ts';

/**
 * Returns true if this chain, or this layer of it, failed only because something inside it failed with the same error.
 * The core of a chain has no record of its own, so an error of the model or of a tool began in its chain.
 */
export function hasPassedOn(chain: ChainRecord, layer?: LayerRecord): boolean {
  return layer === undefined ? chainPassedOn(chain) : layerPassedOn(chain, layer);
}

function chainPassedOn(chain: ChainRecord): boolean {
  const { error, layers } = chain;
  if (error === undefined) return false;
  const began = layers.some((layer) => failedWith(layer, error) && !layerPassedOn(chain, layer));
  return began || isInside(chain, error);
}

function layerPassedOn(chain: ChainRecord, layer: LayerRecord): boolean {
  const { outcome, error, isBeforeNext, isAfterNext, place } = layer;
  if (outcome !== 'failed' || error === undefined) return false;
  // The layer itself may have called the agent, before or after `next()`.
  if (isOfAgent(chain, error)) return true;
  if (isBeforeNext === true || isAfterNext === true) return false;
  const inner = chain.layers.slice(chain.layers.indexOf(layer) + 1).filter((each) => each.outcome !== 'skipped');
  if (inner.some((each) => failedWith(each, error)) || isInside(chain, error)) return true;
  // Only the innermost layer gets errors of the core.
  return inner.length === 0 && chain.error !== undefined && place === undefined;
}

function failedWith({ outcome, error }: LayerRecord, wanted: string): boolean {
  return outcome === 'failed' && error === wanted;
}

/** Returns true if another chain, or the turn of a called agent, failed with this error inside the chain. */
function isInside(chain: ChainRecord, error: string): boolean {
  return chain.inside.some((each) => each.error === error) || isOfAgent(chain, error);
}

/** Returns true if the error is that of a called agent, which is only a part of the text. */
function isOfAgent({ called }: ChainRecord, error: string): boolean {
  return error.startsWith('E_AGENT_FAILED') && called.some((turn) => turn.chain.error !== undefined);
}
