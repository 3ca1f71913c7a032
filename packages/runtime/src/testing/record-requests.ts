import type { ModelMessage, ModelParams, ModelReply, ToolCatalogItem } from '@goondan/types';
import type { Model } from '../agent/model/model-port.ts';

/** One request to a model, and its reply. */
export interface RecordedRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolCatalogItem[];
  readonly params: ModelParams;
  reply?: ModelReply;
}

/** Wraps a model so that every request is recorded. */
export function recordRequests(model: Model, requests: RecordedRequest[]): Model {
  return {
    async generate(request) {
      const { messages, tools, params } = request;
      const recorded: RecordedRequest = {
        messages: [...messages],
        tools: structuredClone([...tools]),
        params: { ...params },
      };
      requests.push(recorded);
      recorded.reply = await model.generate(request);
      return recorded.reply;
    },
  };
}
