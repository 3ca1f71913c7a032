/**
 * Makes `{ ...ctx }`, `JSON.stringify(ctx)` and `console.log(ctx)` show the documented fields of a context, and nothing
 * else. The getters of a context are on its prototype, where these three do not look. Own getters would take longer to
 * define (440 ns) than a layer takes to run. A proxy (18 ns, and 17 ns for each read) lists them when somebody looks.
 */
import type { LayerContext } from './layer-context.ts';

export function showFields(context: LayerContext): LayerContext {
  return new Proxy(context, shown);
}

const shown: ProxyHandler<LayerContext> = {
  ownKeys: (context) => [...new Set([...listGetters(context), ...Object.keys(context)])],
  getOwnPropertyDescriptor: (context, key) => {
    const own = Reflect.getOwnPropertyDescriptor(context, key);
    if (own !== undefined || typeof key !== 'string' || !listGetters(context).includes(key)) return own;
    return { get: () => Reflect.get(context, key), enumerable: true, configurable: true };
  },
  // Without this trap, the TypeError does not say which field was assigned. `next` is an own field, and fixed as well.
  set: (context, key, value) => {
    if (key !== 'next' && Reflect.set(context, key, value)) return true;
    throw new TypeError(`ctx.${String(key)} is readonly: a layer cannot assign it.`);
  },
  // A frozen object cannot list fields that it does not have, so a context cannot be frozen: `Object.freeze` throws.
  preventExtensions: () => false,
};

/** Lists the getters of a context's classes, those of the base class first. */
function listGetters(context: LayerContext): string[] {
  const names: string[] = [];
  for (let at = prototypeOf(context); at !== null && at !== Object.prototype; at = prototypeOf(at)) {
    const ofClass = Object.entries(Object.getOwnPropertyDescriptors(at));
    names.unshift(...ofClass.flatMap(([name, member]) => (member.get === undefined ? [] : [name])));
  }
  return names;
}

function prototypeOf(value: object): object | null {
  // Safe: the prototype of an object is an object or null.
  return Object.getPrototypeOf(value) as object | null;
}
