/** Short ways to write extensions that have one layer. */
import type {
  ExtensionRegister,
  MiddlewareKind,
  MiddlewareOptions,
  ModelMiddleware,
  StepMiddleware,
  ToolCallMiddleware,
  TurnMiddleware,
} from '@goondan/types';
import type { Tier } from '../config/declared-extension.ts';
import { extension } from './scripted-agent.ts';

interface Middlewares {
  readonly turn: TurnMiddleware;
  readonly step: StepMiddleware;
  readonly toolCall: ToolCallMiddleware;
  readonly model: ModelMiddleware;
}

/** Creates a `register` function with one layer. */
export function layerOf<Kind extends MiddlewareKind>(
  kind: Kind,
  run: Middlewares[Kind],
  options?: MiddlewareOptions,
): ExtensionRegister {
  // The casts are safe: `run` is a layer of this kind. Each overload of `register` takes one kind.
  return ({ pipeline }) => pipeline.register(kind as 'turn', run as TurnMiddleware, options);
}

/** Creates an extension with one layer. Its options are those of the layer, and the tier of the extension. */
export function oneLayer<Kind extends MiddlewareKind>(
  name: string,
  kind: Kind,
  run: Middlewares[Kind],
  { tier, ...options }: MiddlewareOptions & { tier?: Tier } = {},
) {
  return extension(name, layerOf(kind, run, options), tier === undefined ? {} : { tier });
}

type ContextOf<Kind extends MiddlewareKind> = Parameters<Middlewares[Kind]>[0];
type ResultOf<Kind extends MiddlewareKind> = Awaited<ReturnType<Middlewares[Kind]>>;

/** Creates an extension whose layer acts, and then calls `next()`. */
export function beforeNext<Kind extends MiddlewareKind>(
  name: string,
  kind: Kind,
  action: (ctx: ContextOf<Kind>) => unknown,
) {
  const run = async (ctx: ContextOf<Kind>) => {
    await action(ctx);
    return ctx.next();
  };
  // The cast is safe: the result is that of `next()`.
  return oneLayer(name, kind, run as Middlewares[Kind], { name: kind });
}

/** Creates an extension whose layer acts when `next()` has returned, and does not change the result. */
export function afterNext<Kind extends MiddlewareKind>(
  name: string,
  kind: Kind,
  action: (result: ResultOf<Kind>, ctx: ContextOf<Kind>) => unknown,
) {
  const run = async (ctx: ContextOf<Kind>) => {
    // The cast is safe: the result of `next()` is that of the kind.
    const result = (await ctx.next()) as ResultOf<Kind>;
    await action(result, ctx);
    return result;
  };
  return oneLayer(name, kind, run as unknown as Middlewares[Kind], { name: kind });
}
