/** What one layer costs: our onion, with every contract check on, against chains that check nothing. */
import type { TurnResult } from '@goondan/types';
import compose from 'koa-compose';
import { type AskingLayer, LayerContext } from '../packages/runtime/src/agent/pipeline/layer-context.ts';
import { LayerRegistry } from '../packages/runtime/src/agent/pipeline/layer-registry.ts';
import { runOnion } from '../packages/runtime/src/agent/pipeline/onion.ts';
import { problemWithTurnResult } from '../packages/runtime/src/agent/pipeline/result-shapes.ts';
import { systemClock } from '../packages/runtime/src/ports/clock.ts';
import type { TurnObserver } from '../packages/runtime/src/trace/layer-span.ts';
import { recordTurn } from '../packages/runtime/src/trace/record-turn.ts';
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

export async function benchOnion(): Promise<void> {
  for (const layers of [1, 10]) {
    const timings = await measure([minimal(layers), koa(layers), onion(layers), watched(layers)], {
      operations: 2_000,
    });
    printTimings(`onion, ${layers} layer${layers === 1 ? '' : 's'}`, timings, 'one chain; ratio to the minimal chain');
  }
}

/** The least that runs the same layers: a context of its own with `next` for each, and no check at all. */
function minimal(count: number): Contestant {
  const layers = Array.from({ length: count }, () => passOn);
  const run = (shared: object, index: number): Promise<TurnResult> => {
    const layer = layers[index];
    return layer === undefined ? core() : layer({ shared, next: () => run(shared, index + 1) } as Passing);
  };
  return { name: 'minimal chain', run: () => run({}, 0) };
}

function koa(count: number): Contestant {
  const layers = Array.from({ length: count }, () => async (_: object, next: () => Promise<unknown>) => next());
  const composed = compose(layers);
  return { name: 'koa-compose', run: () => composed({}, core) };
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

function chainOf(count: number) {
  const registry = new LayerRegistry();
  for (let index = 0; index < count; index++) registry.add(`extension-${index}`, 'agent', 'turn', passOn);
  const layers = registry.of('turn');
  return () => {
    const shared = {};
    return {
      kind: 'turn' as const,
      layers,
      contextFor: (asking: AskingLayer, next: () => Promise<unknown>) => new BenchContext(shared, asking, next),
      core,
      problemWith: problemWithTurnResult,
      clock: systemClock,
      warn: () => undefined,
    };
  };
}

export function onion(count: number): Contestant {
  const chain = chainOf(count);
  return { name: 'goondan onion', run: () => runWatched(chain(), undefined) };
}

export function watched(count: number): Contestant {
  const chain = chainOf(count);
  return {
    name: 'goondan onion, every layer recorded',
    run: () => runWatched(chain(), recordTurn(systemClock)),
  };
}

/** As a turn does it. */
async function runWatched(chain: ReturnType<ReturnType<typeof chainOf>>, observer: TurnObserver | undefined) {
  const span = observer?.chain({ kind: 'turn', label: '', id: '' }, undefined);
  const given = await runOnion({ ...chain, span });
  span?.end(given);
  return given;
}
