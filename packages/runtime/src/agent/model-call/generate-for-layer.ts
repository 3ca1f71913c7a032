/** `ctx.model.generate`: a layer's own model call. It takes the one road, and never streams to the user. */
import { type GenerateRequest, GoondanError, type ModelReply } from '@goondan/types';
import { ToolCatalog } from '../tool/tool-catalog.ts';
import type { LayerAsk } from '../turn-state/running-step.ts';
import { addUsage } from '../turn-state/turn-run.ts';
import { callModel } from './call-model.ts';

export async function generateForLayer(ask: LayerAsk, request: GenerateRequest): Promise<ModelReply> {
  const { run, step, scope, layer } = ask;
  if (!Array.isArray(request?.messages)) {
    throw new GoondanError(
      'E_MODEL_REQUEST',
      `Extension "${layer.layer.extension}": generate needs an array of messages.`,
    );
  }
  const key = run.effects.nextKey(scope, 'model');
  const reply = await callModel(run, {
    call: {
      messages: request.messages,
      tools: new ToolCatalog(request.tools ?? []),
      params: { ...run.agent.params, ...request.params },
      modelRef: request.modelRef ?? run.agent.modelRef,
      stepIndex: step?.stepIndex ?? run.stepCount,
      extensionName: layer.layer.extension,
    },
    key,
    parent: step?.span ?? run.span,
    spanIds: (step ?? run).spanIds.inside(key),
    onDelta: () => undefined,
  });
  addUsage(run.usage, reply.usage);
  return reply;
}
