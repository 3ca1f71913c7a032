/** The contexts of turn and step layers, which can change the conversation and call models, tools and agents. */
import type { ExtensionIdentity, GenerateRequest, JsonObject, MessageEvent, ToolCatalogItem } from '@goondan/types';
import { agentsApi } from '../agents-api/agents-api.ts';
import { generateForLayer } from '../model-call/generate-for-layer.ts';
import { askingLayer } from '../pipeline/layer-context.ts';
import { PartIdentity } from '../pipeline/part-identity.ts';
import type { LayerAsk, RunningStep } from '../turn-state/running-turn.ts';
import { callToolForLayer } from '../tool-call/call-tool-for-layer.ts';
import { subjectOf, TurnLayerContext, turnOf } from '../turn-state/execution-context.ts';
import { runtimeView } from '../turn-state/runtime-view.ts';

/**
 * The members that both contexts have. Each getter knows the layer that reads it. `Step` is undefined for a turn layer.
 */
abstract class PowerfulContext<Step extends RunningStep | undefined> extends TurnLayerContext<Step> {
  get conversationState() {
    return this[turnOf].conversation.state;
  }
  get runtime() {
    return (this[turnOf].runtime ??= runtimeView(this[turnOf]));
  }
  get resumed() {
    return this[turnOf].resumed;
  }
  get agents() {
    const { turn, step, scope } = askOf(this);
    return agentsApi(turn, { scope, spanIds: (step ?? turn).spanIds });
  }
  get model() {
    const ask = askOf(this);
    return { generate: (request: GenerateRequest) => generateForLayer(ask, request) };
  }
  get tools() {
    const ask = askOf(this);
    return {
      call: (name: string, args: JsonObject = {}, caller?: ExtensionIdentity) =>
        callToolForLayer(ask, name, args, caller),
    };
  }
  get emitMessageEvent() {
    const ask = askOf(this);
    return (event: MessageEvent, author?: ExtensionIdentity): void => emitFromLayer(ask, event, author);
  }
}

/** The context of a turn layer. */
export class TurnContext extends PowerfulContext<undefined> {
  get inputEvent() {
    return this[turnOf].event;
  }
}

/** The context of a step layer. */
export class StepContext extends PowerfulContext<RunningStep> {
  get turn() {
    return this[turnOf].shown;
  }
  get stepIndex() {
    return this[subjectOf].stepIndex;
  }
  get toolCatalog() {
    return this[subjectOf].catalog.changeableBy(this[askingLayer].layer);
  }
  set toolCatalog(catalog: ToolCatalogItem[]) {
    if (!Array.isArray(catalog)) throw new TypeError('ctx.toolCatalog must be an array of tools.');
    this[subjectOf].catalog.replace(catalog, this[askingLayer].layer);
  }
}

/**
 * Returns the layer that uses this context. The keys of its effects contain the position in the turn and the extension,
 * so that a resumed turn finds recorded effects again. Effects after a failure have keys of their own, because the
 * failure may not happen again in the resumed turn.
 */
function askOf(context: PowerfulContext<RunningStep | undefined>): LayerAsk {
  const turn = context[turnOf];
  const step = context[subjectOf];
  const layer = context[askingLayer];
  const place = `${step?.stepIndex ?? turn.phase}/${layer.layer.extension}`;
  return { turn, step, layer, scope: layer.sawFailure ? `${place}/failed` : place };
}

function emitFromLayer({ turn, step, layer }: LayerAsk, event: MessageEvent, by: ExtensionIdentity | undefined): void {
  const name = by === undefined ? layer.layer.extension : PartIdentity.extensionOf(by).extension;
  // Step layers are never muted: their step has no record yet, so their events are not in the log.
  if (turn.muted && step === undefined) return;
  const isAnswered = step === undefined ? turn.phase === 'post' : step.isAnswered;
  const author = { kind: 'extension', name } as const;
  const first = turn.conversation.mark();
  const emitted = turn.conversation.emitOfLayer(event, name, step?.stepId, isAnswered);
  for (const [number, each] of emitted.entries()) {
    if (layer.sawFailure) step?.survivors.push({ index: first + number, author });
    layer.span?.emitted(each, name === layer.layer.extension ? undefined : name);
  }
}
