/**
 * Replaces the functions with which code reads the clock and random numbers, so that the draws of a layer can be
 * recorded, and returned again in a replay. `watchDraws` is called once per process, before code of a bundle is loaded.
 *
 * 1. Code outside layers gets the original values. The runtime itself uses the original functions (`ports/`).
 * 2. The replacements return values of the same types as before: `new Date()` is a `Date`, and classes can extend
 *    `Date`.
 */
import { currentScope, type DrawKind, type DrawnValues } from '../../trace/draw-scope.ts';

/** Replaces the functions. The returned function restores them. */
export function watchDraws(): () => void {
  const undo = [
    put(globalThis, 'Date', watchedDate(Date)),
    put(Date.prototype, 'constructor', Date),
    put(Math, 'random', watched('random', Math.random.bind(Math))),
    put(performance, 'now', watched('elapsed', performance.now.bind(performance))),
    put(crypto, 'randomUUID', watched('uuid', crypto.randomUUID.bind(crypto))),
    put(crypto, 'getRandomValues', watchedBytes(crypto.getRandomValues.bind(crypto))),
  ];
  return () => {
    for (const each of undo) each();
  };
}

function put(owner: object, name: string, value: unknown): () => void {
  const before: unknown = Reflect.get(owner, name);
  Reflect.set(owner, name, value);
  return () => void Reflect.set(owner, name, before);
}

function watched<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): () => DrawnValues[Kind] {
  return () => {
    const scope = currentScope();
    return scope?.draw === undefined ? make() : scope.draw(kind, make);
  };
}

function watchedDate(Original: DateConstructor): unknown {
  const now = watched('now', () => Original.now());
  function WatchedDate(...given: unknown[]): unknown {
    if (new.target === undefined) return new Original(now()).toString();
    const extended: unknown = new.target;
    // Safe: `new.target` is a date constructor: this one, or a class that extends it.
    const made = extended === WatchedDate ? Original : (extended as DateConstructor);
    return Reflect.construct(Original, given.length === 0 ? [now()] : given, made);
  }
  const own = Object.getOwnPropertyDescriptors(Original);
  Object.defineProperties(WatchedDate, { ...own, now: { ...own.now, value: now } });
  return WatchedDate;
}

function watchedBytes(fill: <Values extends ArrayBufferView>(values: Values) => Values) {
  return <Values extends ArrayBufferView>(values: Values): Values => {
    const scope = currentScope();
    if (scope?.draw === undefined) return fill(values);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const drawn = scope.draw('bytes', () => {
      fill(values);
      return bytes.toHex();
    });
    bytes.set(Uint8Array.fromHex(drawn).subarray(0, bytes.length));
    return values;
  };
}
