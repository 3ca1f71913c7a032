/** Runs every chain of a turn: the onion with the agent's layers, traced from start to end. */
import { aboutThrown } from '../../log/about-thrown.ts';
import type { LocateThrown } from '../../log/locate-thrown.ts';
import type { RunningCode } from '../../ipc/running-code.ts';
import type { Log } from '../../log/log-sink.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Layer } from './layer.ts';
import type { LayerRegistry } from './layer-registry.ts';
import { type Chain, type LayerWarning, runOnion } from './onion.ts';
import { showFields } from './show-fields.ts';

/**
 * Runs a chain with the agent's layers of its kind. `span`: the span that the turn's observer made, if the turn is
 * traced or recorded. Without layers and without a span, nothing is around the core.
 */
export function runChain<Result>(turn: ChainOwner, chain: TurnChain<Result>): Promise<Result> {
  const layers = turn.agent.layers.of(chain.kind);
  return layers.length === 0 && chain.span === undefined ? chain.core() : runLayers(turn, chain, layers);
}

interface ChainOwner {
  readonly agent: {
    readonly layers: LayerRegistry;
    readonly running: RunningCode;
    readonly log: Log;
    readonly locate: LocateThrown;
  };
  readonly clock: Clock;
}

type TurnChain<Result> = Omit<Chain<Result>, 'layers' | 'clock' | 'warn' | 'wait'>;

function runLayers<Result>(
  { agent, clock }: ChainOwner,
  chain: TurnChain<Result>,
  registered: readonly Layer[],
): Promise<Result> {
  const { layers, thrownBy } = noteThrown(registered);
  const warn = ({ event, layer, message }: LayerWarning) => {
    // Such a layer returns the field every time.
    if (event === 'middleware.unknown_field' && !agent.layers.isFirst(event, layer)) return;
    agent.log('warn', message, { event, extension: layer.extension, ...aboutThrown(agent.locate(thrownBy(layer))) });
  };
  const contextFor: typeof chain.contextFor = (asking, next) => showFields(chain.contextFor(asking, next));
  return runOnion({ ...chain, layers, clock, warn, contextFor, wait: agent.running.wait });
}

/**
 * Remembers the errors of layers that may be skipped. When such a layer fails, the chain continues without it, and the
 * warning about it contains only the error's message.
 */
function noteThrown(layers: readonly Layer[]) {
  // Most chains have no layer that may be skipped.
  if (layers.every(({ onError }) => onError === 'fail')) return { layers, thrownBy: () => undefined };
  const thrown = new Map<Layer, unknown>();
  const noting = (layer: Layer): Layer => {
    const noted: Layer = {
      ...layer,
      run(context) {
        try {
          const returned = layer.run(context);
          if (returned instanceof Promise) returned.catch((error: unknown) => thrown.set(noted, error));
          return returned;
        } catch (error) {
          thrown.set(noted, error);
          throw error;
        }
      },
    };
    return noted;
  };
  return {
    layers: layers.map((layer) => (layer.onError === 'skip' ? noting(layer) : layer)),
    /** Returns the error of this layer, or `undefined` if it threw none. */
    thrownBy: (layer: Layer) => thrown.get(layer),
  };
}
