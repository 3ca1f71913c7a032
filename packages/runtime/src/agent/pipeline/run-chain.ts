/** Every chain of a turn: the onion, with the layers the agent has, watched from its start to its end. */
import type { MiddlewareKind } from '@goondan/types';
import { aboutThrown } from '../../log/about-thrown.ts';
import type { LocateThrown } from '../../log/locate-thrown.ts';
import type { Log } from '../../log/log-sink.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChainSpan } from '../../trace/layer-span.ts';
import type { LayerRegistry } from './layer-registry.ts';
import { type Chain, type LayerWarning, runOnion } from './onion.ts';
import { noteThrown } from './note-thrown.ts';

export interface TurnChain<Result> extends Pick<Chain<Result>, 'contextFor' | 'core' | 'problemWith' | 'answered'> {
  readonly kind: MiddlewareKind;
  /** From `watch`, when somebody watches. */
  readonly span: ChainSpan | undefined;
}

/** The turn, as far as its chains need it. */
interface ChainOwner {
  readonly agent: { readonly layers: LayerRegistry; readonly log: Log; readonly locate: LocateThrown };
  readonly clock: Clock;
}

export async function runChain<Result>({ agent, clock }: ChainOwner, chain: TurnChain<Result>): Promise<Result> {
  const { span } = chain;
  const { layers, thrownBy } = noteThrown(agent.layers.of(chain.kind));
  const warn = ({ event, layer, message }: LayerWarning) =>
    agent.log('warn', message, { event, extension: layer.extension, ...aboutThrown(agent.locate(thrownBy(layer))) });
  try {
    const result = await runOnion({ ...chain, layers, clock, warn });
    span?.end(result);
    return result;
  } catch (error) {
    span?.fail(error);
    throw error;
  }
}
