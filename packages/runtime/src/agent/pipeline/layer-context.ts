/**
 * The object that a layer receives: its own `next`, and getters and setters for the state that all layers of the chain
 * share. A member without a setter cannot be assigned: JavaScript throws a TypeError.
 *
 * `{ ...ctx }`, `JSON.stringify(ctx)` and `console.log(ctx)` show the members of the contract and nothing else. Own
 * getters would take longer to define than a chain takes to run (2 µs), so the getters are on the prototype. A proxy
 * (40 ns) lists them as own fields when somebody looks.
 */
import type { LayerSpan } from '../../trace/layer-span.ts';
import type { Layer } from './layer.ts';

/**
 * The key under which getters find the layer that reads them: `this[askingLayer]`. It is a symbol, so that authors of
 * extensions see only the documented members.
 */
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

  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return Object.assign({}, showFields(this));
  }
}

/** Returns the context for a layer: the same members, with those of the contract as own enumerable fields. */
export function showFields(context: LayerContext): LayerContext {
  return new Proxy(context, fieldsShown);
}

const fieldsShown: ProxyHandler<LayerContext> = {
  ownKeys: (context) => [...new Set([...listGetters(context), ...Object.keys(context)])],
  getOwnPropertyDescriptor: (context, key) => {
    const own = Reflect.getOwnPropertyDescriptor(context, key);
    if (own !== undefined || typeof key !== 'string' || !listGetters(context).includes(key)) return own;
    return { get: () => Reflect.get(context, key), enumerable: true, configurable: true };
  },
};

/** Lists the getters of a context's classes, those of the base class first. */
function listGetters(context: LayerContext): string[] {
  const names: string[] = [];
  for (let at = prototypeOf(context); at !== null && at !== LayerContext.prototype; at = prototypeOf(at)) {
    const ofClass = Object.entries(Object.getOwnPropertyDescriptors(at));
    names.unshift(...ofClass.flatMap(([name, member]) => (member.get === undefined ? [] : [name])));
  }
  return names;
}

function prototypeOf(value: object): object | null {
  // Safe: the prototype of an object is an object or null.
  return Object.getPrototypeOf(value) as object | null;
}
