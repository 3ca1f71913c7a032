/** The wire format of OpenAI's chat completions, as OpenAI and compatible servers use it. For tests only. */
import type { JsonObject } from '@goondan/types';
import { argumentsText, dataEvent, objectsIn, type WireDialect, type WireReply } from './wire-dialect.ts';

const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'wire-model' };

export const openaiWire: WireDialect = {
  isStreaming: (_path, body) => body['stream'] === true,
  toolNames: ({ tools }) => objectsIn(objectsIn(tools).map((tool) => tool['function'] ?? null)).map(({ name }) => name),

  events(reply) {
    const chunk = (delta: JsonObject, finish: string | null = null) =>
      dataEvent({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(reply.reasoning === undefined ? [] : [chunk({ reasoning_content: reply.reasoning.text })]),
      ...(reply.text ?? []).map((content) => chunk({ content })),
      ...(reply.calls ?? []).flatMap((call, index) => {
        const { id, name } = call;
        const text = argumentsText(call, reply);
        const middle = Math.ceil(text.length / 2);
        return [
          chunk({
            tool_calls: [{ index, id, type: 'function', function: { name, arguments: text.slice(0, middle) } }],
          }),
          chunk({ tool_calls: [{ index, function: { arguments: text.slice(middle) } }] }),
        ];
      }),
      chunk({}, finishReason(reply)),
      dataEvent({ ...head, object: 'chat.completion.chunk', choices: [], usage: usage(reply) }),
      dataEvent('[DONE]'),
    ];
  },

  body: (reply) => ({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text?.join('') ?? null,
          ...(reply.reasoning !== undefined && { reasoning_content: reply.reasoning.text }),
          ...(reply.calls !== undefined && {
            tool_calls: reply.calls.map((call) => ({
              id: call.id,
              type: 'function',
              function: { name: call.name, arguments: argumentsText(call, reply) },
            })),
          }),
        },
        finish_reason: finishReason(reply),
      },
    ],
    usage: usage(reply),
  }),

  error: (_status, type, message) => ({ error: { message, type, param: null, code: type } }),
  errorEvent: (message) => dataEvent({ error: { message, type: 'server_error', param: null, code: null } }),
};

function finishReason(reply: WireReply): string {
  if (reply.isTruncated === true) return 'length';
  return reply.calls === undefined ? 'stop' : 'tool_calls';
}

function usage({ usage: { input, output, cached } }: WireReply): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
