/**
 * Measures the cost of one layer: our onion, with every contract check on, against chains without checks. One operation
 * runs the three chains of the shortest turn: the chains of the turn, of its step and of the model call.
 */
import type { TurnResult } from '@goondan/types';
import compose from 'koa-compose';
import { type AskingLayer, LayerContext } from '../packages/runtime/src/agent/pipeline/layer-context.ts';
import { LayerRegistry } from '../packages/runtime/src/agent/pipeline/layer-registry.ts';
import { runOnion } from '../packages/runtime/src/agent/pipeline/onion.ts';
import { readTurnResult } from '../packages/runtime/src/agent/pipeline/result-shapes.ts';
import { noSecrets } from '../packages/runtime/src/log/mask-secrets.ts';
import { systemClock } from '../packages/runtime/src/ports/clock.ts';
import type { ChainSpan, TurnObserver } from '../packages/runtime/src/trace/layer-span.ts';
import { recordTurn } from '../packages/runtime/src/trace/record-turn.ts';
import { SpanIds } from '../packages/runtime/src/trace/span-id.ts';
import type { Figures } from './figures.ts';
import { type Contestant, measure, printTimings } from './measure.ts';

interface Passing {
  next(): Promise<TurnResult>;
}

const result: TurnResult = { turnId: 'turn-1', finishReason: 'text_response' };
const core = async () => result;
const passOn = async (ctx: Passing) => {
  const inner = await ctx.next();
  return inner;
};

export async function benchOnion(): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const layers of [1, 10]) {
    const contestants = [minimal(layers), koa(layers), checking(layers), onion(layers), watched(layers)];
    const timings = await measure(contestants, { operations: 2_000 });
    printTimings(
      `onion, ${layers} layer${layers === 1 ? '' : 's'}`,
      timings,
      'three chains; ratio to the minimal chain',
    );
    const [bare = Number.NaN, , checked = Number.NaN, off = Number.NaN, on = Number.NaN] = timings.map(
      ({ fastest }) => fastest,
    );
    console.log(`  by the fastest samples, the onion takes ${(off / bare).toFixed(2)}× the minimal chain`);
    console.log(`  and ${(off / checked).toFixed(2)}× the chain that checks its results;`);
    console.log(`  recording takes ${(on / off).toFixed(2)}× the time of the onion; the target is below 2×`);
    figures[`onion.${layers}.minimal`] = off / bare;
    figures[`onion.${layers}.checking`] = off / checked;
  }
  return figures;
}

/**
 * The minimal code that runs the same layers: each layer gets a context with its own `next`, and nothing is checked.
 */
function minimal(count: number): Contestant {
  const layers = Array.from({ length: count }, () => passOn);
  const run = (shared: object, inside: Core, index: number): Promise<TurnResult> => {
    const layer = layers[index];
    return layer === undefined ? inside() : layer({ shared, next: () => run(shared, inside, index + 1) } as Passing);
  };
  return { name: 'minimal chain', run: () => nest((inside) => run({}, inside, 0)) };
}

/** The minimal chain, which also waits for each layer and checks the shape of its result. */
function checking(count: number): Contestant {
  const layers = Array.from({ length: count }, () => passOn);
  const run = async (shared: object, inside: Core, index: number): Promise<TurnResult> => {
    const layer = layers[index];
    if (layer === undefined) return inside();
    const given = await layer({ shared, next: () => run(shared, inside, index + 1) } as Passing);
    return readTurnResult(given, { dropped: () => undefined });
  };
  return { name: 'chain that checks its results', run: () => nest((inside) => run({}, inside, 0)) };
}

/** Koa's types do not describe the result of a middleware, so casts are needed. */
function koa(count: number): Contestant {
  const layers = Array.from({ length: count }, () => async (_: object, next: () => Promise<unknown>) => next());
  const composed = compose(layers);
  return { name: 'koa-compose', run: () => nest((inside) => composed({}, inside) as unknown as Promise<TurnResult>) };
}

class BenchContext extends LayerContext {
  constructor(
    readonly shared: object,
    asking: AskingLayer,
    next: () => Promise<unknown>,
  ) {
    super(asking, next);
  }
}

function callersOf(count: number) {
  const registry = new LayerRegistry();
  for (let index = 0; index < count; index++) registry.add(`extension-${index}`, 'agent', 'turn', passOn);
  const layers = registry.of('turn');
  return (inside: Core) => {
    const shared = {};
    return {
      kind: 'turn' as const,
      layers,
      contextFor: (asking: AskingLayer, next: () => Promise<unknown>) => new BenchContext(shared, asking, next),
      core: inside,
      read: readTurnResult,
      clock: systemClock,
      warn: () => undefined,
    };
  };
}

function onion(count: number): Contestant {
  const chain = callersOf(count);
  return { name: 'goondan onion', run: () => runTurn(chain, undefined) };
}

function watched(count: number): Contestant {
  const chain = callersOf(count);
  return {
    name: 'goondan onion, every layer recorded',
    run: () => runTurn(chain, recordTurn(systemClock)),
  };
}

const spanIds = SpanIds.ofTurn({ agentName: 'bench', instanceKey: 'default', turnId: 'turn' }, { traceId: 'trace' });

/** Runs the chain as a real turn does. */
function runTurn(chainOfTurn: ReturnType<typeof callersOf>, observer: TurnObserver | undefined): Promise<TurnResult> {
  let outer: ChainSpan | undefined;
  return nest((inside) => {
    const span = observer?.chain({ kind: 'turn', label: '', id: '', mask: noSecrets, spanIds }, outer);
    outer = span;
    return runOnion({ ...chainOfTurn(inside), span });
  });
}

type Core = () => Promise<TurnResult>;

/** Nests the chains of a turn, its step and the model call. */
function nest(run: (inside: Core) => Promise<TurnResult>): Promise<TurnResult> {
  return run(() => run(() => run(core)));
}
