/**
 * `ctx.model.generate`: a layer's own model call. It runs through the same code as a step's call, but never streams to
 * the user.
 */
import { type GenerateRequest, GoondanError, type ModelReply } from '@goondan/types';
import { ToolCatalog } from '../tool/tool-catalog.ts';
import { addUsage, type LayerAsk } from '../turn-state/running-turn.ts';
import { callModel } from './call-model.ts';

export async function generateForLayer(ask: LayerAsk, request: GenerateRequest): Promise<ModelReply> {
  const { turn, step, scope, layer } = ask;
  const { extension } = layer.layer;
  if (!Array.isArray(request?.messages)) {
    throw new GoondanError('E_MODEL_REQUEST', `Extension "${extension}": generate needs an array of messages.`);
  }
  const reply = await callModel(turn, {
    key: turn.effects.nextKey(scope, 'model'),
    step,
    messages: request.messages,
    tools: new ToolCatalog(request.tools ?? [], extension),
    params: { ...turn.agent.params, ...request.params },
    modelRef: request.modelRef ?? turn.agent.modelRef,
    stepIndex: step?.stepIndex ?? turn.stepCount,
    extension,
  });
  addUsage(turn, reply.usage);
  return reply;
}
