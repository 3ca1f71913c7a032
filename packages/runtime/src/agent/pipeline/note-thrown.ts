/** Notes what layers that may be skipped throw: the chain goes on without them, and its warning has the message alone. */
import type { Layer } from './layer.ts';

export interface NotedLayers {
  readonly layers: readonly Layer[];
  /** Undefined when this layer threw nothing. */
  readonly thrownBy: (layer: Layer) => unknown;
}

/** For one run of a chain. */
export function noteThrown(layers: readonly Layer[]): NotedLayers {
  if (layers.every(({ onError }) => onError === 'fail')) return { layers, thrownBy: nothing };
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
    thrownBy: (layer) => thrown.get(layer),
  };
}

/** No layer of most chains may be skipped. */
function nothing(): void {}
