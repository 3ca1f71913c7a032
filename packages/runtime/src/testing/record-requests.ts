import type { JsonSchema, ModelMessage, ModelParams, ModelReply, ToolCatalogItem } from '@goondan/types';
import type { Model } from '../agent/model/model-port.ts';

/** One request to a model, and its reply. */
export interface RecordedRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolCatalogItem[];
  readonly params: ModelParams;
  /** The schema of the answer, if the model takes one. */
  readonly outputSchema?: JsonSchema;
  reply?: ModelReply;
}

/** Wraps a model so that every request is recorded. */
export function recordRequests(model: Model, requests: RecordedRequest[]): Model {
  const takesSchema = model.takesSchema?.bind(model);
  return {
    ...(takesSchema && { takesSchema }),
    async generate(request) {
      const { messages, tools, params, outputSchema } = request;
      const recorded: RecordedRequest = {
        messages: [...messages],
        tools: structuredClone([...tools]),
        params: { ...params },
        ...(outputSchema && { outputSchema }),
      };
      requests.push(recorded);
      recorded.reply = await model.generate(request);
      return recorded.reply;
    },
  };
}
