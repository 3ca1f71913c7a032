/**
 * What a layer is given: an object of its own with `next`, whose other members are getters and setters that reach the
 * state all layers of the chain share. A member without a setter cannot be assigned: JavaScript throws a TypeError.
 */
import type { LayerSpan } from '../../trace/layer-span.ts';
import type { Layer } from './layer.ts';

/** Where getters find the layer that is asking: `this[askingLayer]`. A symbol, so that authors see only the contract. */
export const askingLayer = Symbol('askingLayer');

export interface AskingLayer {
  readonly layer: Layer;
  readonly span: LayerSpan | undefined;
}

export abstract class LayerContext {
  readonly [askingLayer]: AskingLayer;
  readonly next: () => Promise<unknown>;

  constructor(asking: AskingLayer, next: () => Promise<unknown>) {
    this[askingLayer] = asking;
    this.next = next;
  }
}
