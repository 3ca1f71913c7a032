/** A watcher that is shown no secrets: what layers change and give is masked before it is compared. */
import type { JsonValue } from '@goondan/types';
import { type Mask, maskJson, noSecrets } from '../../log/mask-secrets.ts';
import type { ChainSpan, LayerSpan, TurnObserver } from '../../trace/layer-span.ts';

export function maskedObserver(observer: TurnObserver, mask: Mask): TurnObserver {
  if (mask === noSecrets) return observer;
  const shownSpans = new WeakMap<ChainSpan, ChainSpan>();
  return {
    chain(chain, parent) {
      const shown = { ...chain, inspect: () => maskJson(chain.inspect(), mask) };
      const inner = observer.chain(shown, parent && (shownSpans.get(parent) ?? parent));
      const span: ChainSpan = {
        enter: (layer) => maskedLayer(inner.enter(layer), mask),
        end: (error) => inner.end(error === undefined ? undefined : maskThrown(error, mask)),
      };
      shownSpans.set(span, inner);
      return span;
    },
  };
}

function maskedLayer(layer: LayerSpan, mask: Mask): LayerSpan {
  return {
    next: () => layer.next(),
    innerSettled: (result) => layer.innerSettled(maskResult(result, mask)),
    emitted: (event) => layer.emitted(event),
    shortCircuit: () => layer.shortCircuit(),
    exit(outcome) {
      if ('error' in outcome) layer.exit({ ...outcome, error: maskThrown(outcome.error, mask) });
      else layer.exit({ result: maskResult(outcome.result, mask) });
    },
  };
}

/** As JSON, which is all that a watcher looks at; what is none is not shown. */
function maskResult(result: unknown, mask: Mask): unknown {
  try {
    return result === undefined ? undefined : maskJson(JSON.parse(JSON.stringify(result)) as JsonValue, mask);
  } catch {
    return undefined;
  }
}

/** Its words and its code. */
function maskThrown(thrown: unknown, mask: Mask): unknown {
  if (!(thrown instanceof Error)) return maskResult(thrown, mask);
  const shown = new Error(mask(thrown.message));
  const code: unknown = Reflect.get(thrown, 'code');
  return code === undefined ? shown : Object.assign(shown, { code });
}
