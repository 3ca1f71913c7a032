/**
 * In which chain code runs, wherever it awaits and whatever it calls. Of nested layers one runs at a time, so the chain
 * knows whose code it is: what that draws from the clock or from chance is the layer's.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';

/** The clock, the clock that only grows, a number from 0 to 1, a UUID, bytes as hexadecimal digits. */
export interface DrawnValues {
  readonly now: number;
  readonly elapsed: number;
  readonly random: number;
  readonly uuid: string;
  readonly bytes: string;
}

export type DrawKind = keyof DrawnValues;

/** One value that was drawn. */
export type Draw = { readonly [Kind in DrawKind]: readonly [Kind, DrawnValues[Kind]] }[DrawKind];

/** Decides what code that draws a value gets. */
export interface DrawScope {
  draw?<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind];
}

/** Made when a turn is watched for the first time: a process that starts need not load it. */
let scopes: AsyncLocalStorage<DrawScope | undefined> | undefined;

export function inScope<Value>(scope: DrawScope, run: () => Value): Value {
  scopes ??= new (process.getBuiltinModule('node:async_hooks').AsyncLocalStorage)();
  return scopes.run(scope, run);
}

/** What is being loaded: one thing at a time, before the first turn, so that no storage is needed to know it. */
let loading: DrawScope | undefined;

export async function whileLoading<Value>(scope: DrawScope, load: () => Promise<Value>): Promise<Value> {
  loading = scope;
  try {
    return await load();
  } finally {
    loading = undefined;
  }
}

/** What the runtime does for a layer is not the layer's doing. */
export function outsideLayers<Value>(run: () => Value): Value {
  return scopes === undefined ? run() : scopes.run(undefined, run);
}

export function currentScope(): DrawScope | undefined {
  return scopes?.getStore() ?? loading;
}
