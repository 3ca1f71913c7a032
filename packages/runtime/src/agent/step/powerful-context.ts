/** The context members of turn and step layers that change the conversation and call models, tools and agents. */
import type { GenerateRequest, JsonObject, MessageEvent } from '@goondan/types';
import { agentsApi } from '../agents-api/agents-api.ts';
import { generateForLayer } from '../model-call/generate-for-layer.ts';
import { askingLayer } from '../pipeline/layer-context.ts';
import type { LayerAsk, RunningStep } from '../turn-state/running-step.ts';
import { callToolForLayer } from '../tool-call/call-tool-for-layer.ts';
import { subjectOf, TurnLayerContext, turnOf } from '../turn-state/execution-context.ts';

/** The base class of turn and step contexts. Each getter knows the layer that reads it. A turn layer has no step. */
export abstract class PowerfulContext<Step extends RunningStep | undefined> extends TurnLayerContext<Step> {
  get conversationState() {
    return this[turnOf].conversation.state;
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
    return { call: (name: string, args: JsonObject = {}) => callToolForLayer(ask, name, args) };
  }
  get emitMessageEvent() {
    const ask = askOf(this);
    return (event: MessageEvent): void => emitFromLayer(ask, event);
  }
}

/**
 * Returns the layer that uses this context. The keys of its effects contain the position in the turn and the extension,
 * so that a resumed turn finds recorded effects again.
 */
function askOf(context: PowerfulContext<RunningStep | undefined>): LayerAsk {
  const turn = context[turnOf];
  const step = context[subjectOf];
  const layer = context[askingLayer];
  return { turn, step, layer, scope: `${step?.stepIndex ?? turn.phase}/${layer.layer.extension}` };
}

function emitFromLayer({ turn, step, layer }: LayerAsk, event: MessageEvent): void {
  // Step layers are never muted: their step has no record yet, so their events are not in the log.
  if (turn.muted && step === undefined) return;
  const counted = turn.conversation.emit(event, { kind: 'extension', name: layer.layer.extension }, step?.stepId);
  if (counted !== undefined) layer.span?.emitted(counted);
}
