/**
 * What a layer is given. All layers of a chain share one context and its state; a layer's own object adds only `next`,
 * and is frozen, so that an assignment either goes through a setter of the shared context or throws a TypeError.
 */
import type { LayerSpan } from '../../trace/layer-span.ts';
import type { Layer } from './layer.ts';

/** Where shared getters find the layer that is asking: `this[askingLayer]`. */
export const askingLayer = Symbol('askingLayer');

export interface AskingLayer {
  readonly layer: Layer;
  readonly span: LayerSpan | undefined;
}

/** A shared context: a class whose getters and setters reach the chain's state. */
export abstract class ChainContext {
  // Present on every object a layer gets, never on the shared one.
  declare readonly [askingLayer]: AskingLayer;
}

export function layerContext(shared: ChainContext, asking: AskingLayer, next: () => Promise<unknown>): object {
  // Object.create is typed `any`; it is an object whose prototype is the shared context.
  const own = Object.create(shared) as Record<PropertyKey, unknown>;
  own.next = next;
  own[askingLayer] = asking;
  return Object.freeze(own);
}
