/**
 * The object that a layer receives: its own `next`, and getters and setters for the state that all layers of the chain
 * share. A member without a setter cannot be assigned: JavaScript throws a TypeError.
 */
import type { LayerSpan } from '../../trace/layer-span.ts';
import type { Layer } from './layer.ts';
import { showFields } from './show-fields.ts';

/**
 * The key under which getters find the layer that reads them: `this[askingLayer]`. It is a symbol, so that authors of
 * extensions see only the documented members.
 */
export const askingLayer = Symbol('askingLayer');

export interface AskingLayer {
  readonly layer: Layer;
  readonly span: LayerSpan | undefined;
  /** True once the `next()` of this layer has failed. */
  readonly sawFailure: boolean;
}

export abstract class LayerContext {
  // With `declare`, the fields are not set to `undefined` first. A context is created for each layer of each chain.
  declare readonly [askingLayer]: AskingLayer;
  declare readonly next: () => Promise<unknown>;

  constructor(asking: AskingLayer, next: () => Promise<unknown>) {
    this[askingLayer] = asking;
    this.next = next;
  }

  /** Gives `console.log` the documented fields. It looks past the proxy of `showFields`. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return Object.assign({}, showFields(this));
  }
}
