/**
 * The scope to which running code belongs. Code stays in its scope across every `await` and call. Nested layers of a
 * chain run one at a time, so the chain knows which layer draws a value from the clock or from random numbers.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The type of the value for each kind of draw: the time in milliseconds, the monotonic clock, a random number from 0 to
 * 1, a UUID, bytes as hexadecimal digits.
 */
export interface DrawnValues {
  readonly now: number;
  readonly elapsed: number;
  readonly random: number;
  readonly uuid: string;
  readonly bytes: string;
}

export type DrawKind = keyof DrawnValues;

/** A drawn value with its kind. */
export type Draw = { readonly [Kind in DrawKind]: readonly [Kind, DrawnValues[Kind]] }[DrawKind];

/** Decides which value a draw returns. */
export interface DrawScope {
  draw?<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind];
}

/** Created when the first turn is watched, so that a starting process need not load `node:async_hooks`. */
let scopes: AsyncLocalStorage<DrawScope> | undefined;

export function inScope<Value>(scope: DrawScope, run: () => Value): Value {
  scopes ??= new (process.getBuiltinModule('node:async_hooks').AsyncLocalStorage)();
  return scopes.run(scope, run);
}

/** The scope of code that belongs to no layer and to no extension that is being loaded: its draws are its own. */
const noScope: DrawScope = {};

/**
 * The extension that is being loaded. Extensions are loaded one at a time. A variable is needed, because a module that is
 * imported does not run in the scope of its importer.
 */
let loading: DrawScope | undefined;

export async function whileLoading<Value>(scope: DrawScope, load: () => Promise<Value>): Promise<Value> {
  loading = scope;
  try {
    return await load();
  } finally {
    loading = undefined;
  }
}

/** Runs runtime code outside of any layer, so that its draws are not attributed to a layer. */
export function outsideLayers<Value>(run: () => Value): Value {
  return scopes === undefined ? run() : scopes.run(noScope, run);
}

export function currentScope(): DrawScope | undefined {
  return scopes?.getStore() ?? loading;
}
