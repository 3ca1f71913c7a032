/**
 * Puts others in the place of the functions with which code draws from the clock and from chance, so that what a layer
 * draws can be kept, and given to it again in a replay. For the whole process, once, before code of a bundle is loaded.
 *
 * 1. Code outside layers gets what it always got. The runtime's own uses what it took before (`ports/`).
 * 2. What they give is what they gave before: a `Date` is one, also of a class that extends it.
 */
import { currentScope, type DrawKind, type DrawnValues } from '../../trace/draw-scope.ts';

export function watchDraws(): void {
  watchDate();
  const random = Math.random.bind(Math);
  Math.random = () => draw('random', random);
  const elapsed = performance.now.bind(performance);
  performance.now = () => draw('elapsed', elapsed);
  const uuid = crypto.randomUUID.bind(crypto);
  crypto.randomUUID = () => draw('uuid', uuid) as ReturnType<typeof uuid>;
  watchBytes();
}

function draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
  const scope = currentScope();
  return scope?.draw === undefined ? make() : scope.draw(kind, make);
}

function watchDate(): void {
  const Original = Date;
  const now = () => draw('now', Original.now);
  function WatchedDate(this: unknown, ...given: unknown[]): unknown {
    if (new.target === undefined) return new Original(now()).toString();
    const target: unknown = new.target;
    return Reflect.construct(
      Original,
      given.length === 0 ? [now()] : given,
      target === WatchedDate ? Original : (new.target as typeof Date),
    );
  }
  const own = Object.getOwnPropertyDescriptors(Original);
  Object.defineProperties(WatchedDate, { ...own, now: { ...own.now, value: now } });
  Original.prototype.constructor = WatchedDate as unknown as DateConstructor;
  globalThis.Date = WatchedDate as unknown as DateConstructor;
}

function watchBytes(): void {
  const fill = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = <Values extends ArrayBufferView | null>(values: Values): Values => {
    const scope = currentScope();
    if (scope?.draw === undefined || values === null) return fill(values as never);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const drawn = scope.draw('bytes', () => {
      fill(values as never);
      return bytes.toHex();
    });
    bytes.set(Uint8Array.fromHex(drawn).subarray(0, bytes.length));
    return values;
  };
}
